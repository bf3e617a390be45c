import { describe, expect, it } from "vitest";
import { formatCsvRow } from "./csv.ts";

describe("formatCsvRow", () => {
  it("keeps a spreadsheet from running text as a formula, and leaves numbers alone", () => {
    const cells = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-1.5e-7", "+3", "-Infinity", -2, null, "plain"];
    expect(formatCsvRow(cells)).toBe(`'=1+1,'+cmd,'-x,'@sum,'\tx,"'\rx",-1.5e-7,+3,-Infinity,-2,,plain\r\n`);
  });

  it("quotes what would be read as a separator, and writes lists as JSON", () => {
    expect(formatCsvRow(['a "b", c', "two\nlines", ["x", 1]])).toBe('"a ""b"", c","two\nlines","[""x"",1]"\r\n');
  });

  it("keeps the sign of a negative zero, in lists too", () => {
    expect(formatCsvRow([-0, 0, [-0, 1.5, null]])).toBe('-0,0,"[-0,1.5,null]"\r\n');
  });
});
