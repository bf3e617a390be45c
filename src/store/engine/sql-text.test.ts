import { describe, expect, it } from "vitest";
import { quote } from "#store/sql-quote.ts";
import { firstWord, formatSettings, parseInsertHead } from "./sql-text.ts";

describe("firstWord", () => {
  it.each([
    ["select 1", "SELECT"],
    ["  \n\t(SELECT 1)", "SELECT"],
    ["/* a */ -- b\n WITH x AS (SELECT 1) SELECT 1", "WITH"],
    ["# comment\nINSERT INTO t", "INSERT"],
    ["", ""],
    ["123", ""],
  ])("of %j is %j", (sql, word) => {
    expect(firstWord(sql)).toBe(word);
  });
});

describe("parseInsertHead", () => {
  it("splits an INSERT whose data is in the body", () => {
    expect(parseInsertHead("INSERT INTO db.t (`a`, `b`) FORMAT Native")).toEqual({
      target: "INSERT INTO db.t (`a`, `b`)",
      format: "Native",
    });
  });

  it.each([
    "INSERT INTO t SELECT 1",
    "INSERT INTO t VALUES (1)",
    "SELECT 1 FORMAT Native",
    "INSERT INTO t FORMAT Native; DROP TABLE t",
    "",
  ])("leaves %j to the engine", (sql) => {
    expect(parseInsertHead(sql)).toBeNull();
  });
});

describe("formatSettings", () => {
  it("writes values as literals that cannot end early", () => {
    expect(
      formatSettings([
        ["a", "x'; DROP TABLE t --"],
        ["b", "\\"],
      ]),
    ).toBe("a = 'x\\'; DROP TABLE t --', b = '\\\\'");
    expect(quote("a\0b\n")).toBe("'a\\0b\\n'");
  });

  it("refuses a name that is no setting's", () => {
    expect(() => formatSettings([["a = 1, readonly", "0"]])).toThrow("Code: 115");
  });
});
