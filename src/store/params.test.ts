import { expect, it } from "vitest";
import { placeParams, writeParams } from "./params.ts";

it("writes a long list into the query as a literal, and leaves its texts as they are", () => {
  const long = Array.from({ length: 2000 }, (_, at) => `name of number ${at}`);
  // What looks like another parameter is a run's name.
  const groups = [...long, "{keys:Array(String)}", "it's {groups:Array(String)}"];
  const sql = "SELECT 1 WHERE g IN {groups:Array(String)} AND k IN {keys: Array(String)} AND s = {step:Int64}";
  const placed = placeParams(sql, { groups, keys: long, step: 7n });
  const literal = (texts: readonly string[]) =>
    `CAST([${texts.map((text) => `'${text.replace("'", "\\'")}'`).join(",")}], 'Array(String)')`;
  const where = `g IN ${literal(groups)} AND k IN ${literal(long)} AND s = {step:Int64}`;
  expect(placed.sql).toBe(`SELECT 1 WHERE ${where}`);
  expect([...placed.beside]).toEqual([["step", "7"]]);
});

it("writes every value into the query as a literal of its type", () => {
  const sql = "SELECT {a:String}, {b: Nullable(String)}, {c:Int64}, {d:Array(String)}, {e:Float64}, {left:UInt8}";
  const params = { a: "it's {c:Int64}\n\\", b: null, c: -(2n ** 63n), d: ["", "'"], e: Number.NaN };
  expect(writeParams(sql, params)).toBe(
    "SELECT 'it\\'s {c:Int64}\\n\\\\', CAST(NULL, 'Nullable(String)'), CAST(-9223372036854775808, 'Int64'), " +
      "CAST(['','\\''], 'Array(String)'), CAST(nan, 'Float64'), {left:UInt8}",
  );
});

it("leaves texts and comments of the query as they are, though they look like places", () => {
  const sql =
    "SELECT 1 -- {a:String} isn't one\nWHERE g = 'run \\'{a:String}\\\\' AND h = {a:String} AND i = '{a:String}'";
  expect(writeParams(sql, { a: "x" })).toBe(sql.replace("h = {a:String}", "h = 'x'"));
});
