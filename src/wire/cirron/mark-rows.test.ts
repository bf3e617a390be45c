import { describe, expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import type { Cell } from "#model/cells.testing.ts";
import { rowFlags } from "#model/row-flags.ts";
import { formatRecord, type RecordCells } from "./rebuild.ts";
import { mark, markCells, readIndependently, sameNumbers, type Tree } from "./small-records.testing.ts";

const rebuild = (cells: Record<string, Cell>) =>
  atOnce(formatRecord("mark", cells as unknown as RecordCells<"mark">)).join("");

describe("a mark", () => {
  const values = (cells: Record<string, Cell>) => [
    cells["value_float"],
    cells["value_int"],
    cells["value_string"],
    cells["value_bool"],
  ];

  test.each([
    ['"value_type":"float","value":0.5', [0.5, null, null, null]],
    ['"value_type":"float","value":1', [1, null, null, null]],
    ['"value_type":"float","value":-0.0', [-0, null, null, null]],
    ['"value_type":"float","value":NaN', [Number.NaN, null, null, null]],
    ['"value_type":"float","value":-Infinity', [-Infinity, null, null, null]],
    ['"value_type":"float","value":5e-324', [5e-324, null, null, null]],
    ['"value_type":"int","value":9007199254740993', [null, 9007199254740993n, null, null]],
    ['"value_type":"string","value":"a\\u0000b"', [null, null, "a\0b", null]],
    ['"value_type":"string","value":""', [null, null, "", null]],
    ['"value_type":"bool","value":true', [null, null, null, 1]],
    ['"value_type":"bool","value":false', [null, null, null, 0]],
    ['"value":2', [null, 2n, null, null]],
    ['"value":2.0', [2, null, null, null]],
  ])("with %s fills exactly that column [CT-08] [CT-35]", (fields, expected) => {
    const cells = markCells(`,${fields}`);
    expect(values(cells)).toStrictEqual(expected);
    expect([cells["extra"], cells["raw"]]).toStrictEqual(["", ""]);
    const again = rebuild(cells);
    expect(sameNumbers(readIndependently(again))).toMatchObject(
      sameNumbers(readIndependently(mark(`,${fields}`))) as Tree,
    );
  });

  test.each([
    ['"value":null,"kind":"point","value_nonfinite":"nan"', Number.NaN, '{"value":null,"value_nonfinite":"nan"}'],
    ['"value_nonfinite":"inf","value":null', Infinity, '{"value":null,"value_nonfinite":"inf"}'],
    ['"value_nonfinite":"-inf"', -Infinity, '{"value_nonfinite":"-inf"}'],
  ])("with %s is the number that the word says, and goes out as it came [CT-08]", (fields, value, extra) => {
    const cells = markCells(`,"value_type":"float",${fields}`);
    expect(values(cells)).toStrictEqual([value, null, null, null]);
    expect(cells).toMatchObject({ extra, raw: "", flags: rowFlags.nonfinite_word });
    expect(JSON.parse(rebuild(cells))).toMatchObject({ value: null, ...(JSON.parse(extra) as Tree) });
  });

  test.each([
    '"value_type":"float","value":1.5,"value_nonfinite":"nan"',
    '"value_type":"float","value":null,"value_nonfinite":"none"',
    '"value_type":"float","value":null,"value_nonfinite":7',
    '"value_type":"int","value":null,"value_nonfinite":"nan"',
  ])("with %s is not made NaN", (fields) => {
    const cells = markCells(`,${fields}`);
    expect(values(cells)).not.toContain(Number.NaN);
    expect(cells["flags"]).toBe(0);
    const again = rebuild(cells);
    expect(readIndependently(again)).toMatchObject(readIndependently(mark(`,${fields}`)) as Tree);
  });

  test.each([
    ['"value_type":"int","value":9223372036854775808', '{"value":9223372036854775808}'],
    ['"value_type":"int","value":1.0', '{"value":1.0}'],
    ['"value_type":"float","value":9007199254740993', '{"value":9007199254740993}'],
    ['"value_type":"float","value":null', '{"value":null}'],
    ['"value_type":"float","value":"high"', '{"value":"high"}'],
    ['"value_type":"bool","value":1', '{"value":1}'],
    ['"value_type":"tensor","value":[1, 2]', '{"value":[1,2]}'],
    ['"value_type":null,"value":1', '{"value_type":null,"value":1}'],
  ])("with %s fills none and keeps the value", (fields, extra) => {
    const cells = markCells(`,${fields}`);
    expect(values(cells)).toStrictEqual([null, null, null, null]);
    expect(cells["extra"]).toBe(extra);
    const again = rebuild(cells);
    expect(readIndependently(again)).toMatchObject(readIndependently(mark(`,${fields}`)) as Tree);
  });

  test.each([
    ["1e400", Infinity],
    ["-1e400", -Infinity],
    ["0.0001e-400", 0],
  ])("whose float %s no double can hold keeps its text beside the nearest one", (literal, nearest) => {
    const fields = `,"value_type":"float","value":${literal}`;
    const cells = markCells(fields);
    expect(cells).toMatchObject({ value_float: nearest, extra: "", raw: mark(fields) });
    expect(rebuild(cells)).toBe(mark(fields));
    expect(markCells(',"value_type":"float","value":0.0e7')["raw"]).toBe("");
  });

  test("is a point unless it says otherwise [CT-12]", () => {
    expect(markCells("")).toMatchObject({ kind: "point", flags: 0 });
    expect(markCells(',"kind":"summary"')).toMatchObject({ kind: "summary", flags: 0 });
    expect(markCells(',"kind":"other"')).toMatchObject({ kind: "other", flags: rowFlags.unlisted_word });
    expect(markCells(',"kind":null')).toMatchObject({ kind: "point", extra: '{"kind":null}' });
  });

  test("outside every session has the span id root [CT-11]", () => {
    expect(markCells(',"span_id":"root"')["span_id"]).toBe("root");
  });

  test("keeps a string in full, also beyond 256 bytes", () => {
    const long = "🚀".repeat(300);
    expect(markCells(`,"value_type":"string","value":"${long}"`)["value_string"]).toBe(long);
  });
});
