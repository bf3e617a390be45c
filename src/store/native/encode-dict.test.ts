import { expect, test } from "vitest";
import { DictColumn } from "#base/dict-column.ts";
import { countPauses } from "#base/turns.testing.ts";
import { ByteSink } from "./byte-sink.ts";
import { BlockReader } from "./decode-block.ts";
import { encodeDict } from "./encode-dict.ts";

function toColumn(texts: readonly string[]): DictColumn {
  const column = new DictColumn();
  for (const text of texts) column.push(text);
  return column;
}

/** What a reader of a block of this one column finds. */
function write(parts: readonly (readonly string[])[]): { texts: readonly string[]; keys: number; pauses: number } {
  const sink = new ByteSink(64);
  sink.writeVarint(1);
  sink.writeVarint(parts.flat().length);
  sink.writeText("name");
  sink.writeText("LowCardinality(String)");
  const runs = parts.map((texts, part) => ({ part, start: 0, end: texts.length }));
  const { pauses } = countPauses(encodeDict(sink, parts.map(toColumn), runs));
  const column = new BlockReader(sink.finish()).readBlock().columns.get("name");
  if (column?.kind !== "dict") throw new Error("no dictionary");
  return { texts: Array.from(column.codes, (code) => column.keys[code] as string), keys: column.keys.length, pauses };
}

test("the dictionaries of several parts become one, in which each text stands once", () => {
  const parts = [["a", "", "b", "a"], ["b", "c"], [""], ["c", "a"]];
  expect(write(parts)).toEqual({ texts: parts.flat(), keys: 4, pauses: 0 });
});

test("very many texts are gathered and written with pauses, and few are not", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => `key${i}`);
  const few = Array.from({ length: 100_000 }, (_, i) => `key${i % 7}`);
  for (const parts of [[many], [many, many.toReversed()]]) {
    const { texts, keys, pauses } = write(parts);
    const flat = parts.flat();
    expect([texts.every((text, at) => text === flat[at]), keys]).toEqual([true, 100_001]);
    expect(pauses).toBeGreaterThan(8);
  }
  expect(write([few]).pauses).toBe(0);
});
