import { describe, expect, it } from "vitest";
import { formatCsvRow } from "./csv.ts";
import { encodeCsv } from "./export-files.ts";

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

describe("encodeCsv", () => {
  it("writes a row of megabytes as it writes any other, and lets others have their turns", async () => {
    const numbers = Array.from({ length: 300_000 }, (_, at) => at / 8);
    const row = ["a", null, -1.5, true, numbers, "=1+1", 'say "b", c', ["NaN", { deep: [] }], "9007199254740993"];
    async function* rows() {
      yield Buffer.from(`${JSON.stringify(row)}\n`);
    }
    let turns = 0;
    let isDone = false;
    const count = () => {
      if (isDone) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    const chunks: Uint8Array[] = [];
    for await (const chunk of encodeCsv(["x"], rows())) chunks.push(chunk);
    isDone = true;
    expect(Buffer.concat(chunks).toString()).toBe(`x\r\n${formatCsvRow(row as never)}`);
    expect(turns).toBeGreaterThan(1);
  });
});
