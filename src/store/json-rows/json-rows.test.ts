import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { guestRowBytesMax, JsonRows } from "./json-rows.ts";
import { toShape } from "./type-shape.ts";

/** What the engine writes for a column type and what it must become. */
type Cell = readonly [engine: string, words: string];

const floatCell = fc.oneof(
  fc.constantFrom<Cell>(
    ["1.5", "1.5"],
    ['"nan"', '"NaN"'],
    ['"-nan"', '"NaN"'],
    ['"inf"', '"Infinity"'],
    ['"-inf"', '"-Infinity"'],
    ["null", "null"],
    ["-0", "-0"],
    ["1e-7", "1e-7"],
  ),
);
const textCell = fc
  .oneof(fc.string(), fc.constantFrom("nan", "inf", "-inf", '"nan"', "a,b", "]", "[", "\\", 'x\\"', "\n", "{}", "é"))
  .map((text): Cell => {
    const json = JSON.stringify(text);
    return [json, json];
  });
const list = (cell: typeof floatCell) =>
  fc
    .array(cell, { maxLength: 3 })
    .map((cells): Cell => [`[${cells.map(([e]) => e).join(",")}]`, `[${cells.map(([, w]) => w).join(",")}]`]);
const mapCell = fc
  .uniqueArray(fc.tuple(textCell, floatCell), { maxLength: 3, selector: ([[key]]) => key })
  .map(
    (pairs): Cell => [
      `{${pairs.map(([[k], [e]]) => `${k}:${e}`).join(",")}}`,
      `{${pairs.map(([[k], [, w]]) => `${k}:${w}`).join(",")}}`,
    ],
  );
const pairCell = fc
  .tuple(floatCell, textCell)
  .map(([[fe, fw], [te, tw]]): Cell => [`{"a":${fe},"b":${te}}`, `{"a":${fw},"b":${tw}}`]);

const columns: readonly { readonly type: string; readonly cell: typeof floatCell }[] = [
  { type: "Float64", cell: floatCell },
  { type: "String", cell: textCell },
  { type: "Nullable(Float32)", cell: floatCell },
  { type: "Array(Float64)", cell: list(floatCell) },
  { type: "Array(String)", cell: list(textCell) },
  { type: "Map(String, Float64)", cell: mapCell },
  { type: "Tuple(a Float64, b String)", cell: pairCell },
  { type: "LowCardinality(String)", cell: textCell },
  { type: "Array(Array(Nullable(Float64)))", cell: list(list(floatCell)) },
];

const rowCells = fc.array(fc.tuple(...columns.map(({ cell }) => cell)), { maxLength: 6 });

/** The bytes in pieces of these sizes, over and over. */
function pass(bytes: Buffer, sizes: readonly number[]): string {
  const words = new JsonRows();
  const out: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    out.push(Buffer.from(words.push(bytes.subarray(at, at + size))));
    at += size;
  }
  return Buffer.concat(out).toString();
}

const names = columns.map((_, i) => `c"${i}`);
const header = `${JSON.stringify(names)}\n${JSON.stringify(columns.map(({ type }) => type))}\n`;

describe("JsonRows", () => {
  it("gives floats their words and leaves texts alone, however the answer is cut", () => {
    fc.assert(
      fc.property(
        rowCells,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        (rows, sizes) => {
          const input = header + rows.map((cells) => `[${cells.map(([e]) => e).join(", ")}]\n`).join("");
          const expected = rows.map((cells) => JSON.parse(`[${cells.map(([, w]) => w).join(",")}]`) as unknown[]);
          const parse = (text: string): unknown[] =>
            text
              .split("\n")
              .slice(0, -1)
              .map((line) => JSON.parse(line) as unknown);
          expect(parse(pass(Buffer.from(input), sizes))).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("passes rows without such floats through untouched", () => {
    const words = new JsonRows();
    words.push(Buffer.from('["a"]\n["Float64"]\n'));
    const rows = Buffer.from("[1.5]\n[ 2 ]\n");
    expect(Buffer.from(words.push(rows)).toString()).toBe("[1.5]\n[ 2 ]\n");
    expect(words.header).toEqual({ names: ["a"], types: ["Float64"] });
  });

  it("puts a row of many megabytes together once, however many chunks it comes in", () => {
    const rows = new JsonRows();
    const text = `["t"]\n["String"]\n["${"x".repeat(48 << 20)}"]\n["y"]\n`;
    const bytes = Buffer.from(text);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 4096) parts.push(rows.push(bytes.subarray(at, at + 4096)));
    expect(Buffer.concat(parts).equals(bytes.subarray(text.indexOf('["x')))).toBe(true);
  });

  it("gives up a row that no record can have made", () => {
    const rows = new JsonRows();
    const chunk = Buffer.alloc(64 << 20, "x");
    const pushAll = () => {
      for (let at = 0; at < 3; at++) rows.push(chunk);
    };
    expect(pushAll).toThrow("more than 134217728 bytes");
    const ofGuest = new JsonRows(guestRowBytesMax);
    expect(() => ofGuest.push(chunk)).toThrow("more than 33554432 bytes");
  });

  it("keeps bytes that are no UTF-8", () => {
    const words = new JsonRows();
    words.push(Buffer.from('["a", "b"]\n["String", "Float64"]\n'));
    const row = Buffer.concat([Buffer.from('["'), Buffer.from([0xff, 0xfe]), Buffer.from('", "nan"]\n')]);
    const expected = Buffer.concat([Buffer.from('["'), Buffer.from([0xff, 0xfe]), Buffer.from('","NaN"]\n')]);
    expect(Buffer.from(words.push(row)).equals(expected)).toBe(true);
  });

  it("takes very many rows of words in one piece", () => {
    const words = new JsonRows();
    words.push(Buffer.from('["a"]\n["Float64"]\n'));
    const rows = Buffer.from('["inf"]\n'.repeat(200_000));
    expect(words.push(rows).length).toBe(13 * 200_000);
  });
});

describe("toShape", () => {
  it.each([
    ["Float64", "float"],
    ["LowCardinality(Nullable(Float32))", "float"],
    ["SimpleAggregateFunction(max, Nullable(Float64))", "float"],
    ["String", "plain"],
    ["Array(String)", "plain"],
    ["Array(Float64)", "list"],
    ["Tuple(Float64, String)", "list"],
    ["Tuple(`odd, name)` Float64, b String)", "object"],
    ["Map(String, Array(Float64))", "object"],
    ["Nested(a Float64, b String)", "list"],
    ["Enum8('Float64' = 1)", "plain"],
    ["DateTime64(9, 'UTC')", "plain"],
    ["AggregateFunction(argMax, Float64, Int64)", "plain"],
  ])("finds the floats in %s", (type, kind) => {
    expect(toShape(type).kind).toBe(kind);
  });
});
