// What the tests of this folder share: small records, and a reader of JSON that is independent of our own.

import { atOnce } from "#base/turns.ts";
import { type Cell, toCells } from "#model/cells.testing.ts";
import type { Fault } from "#model/fault.ts";
import type { CirronBatch } from "./batch.ts";
import { decodeBatch } from "./decode.ts";
import { formatRecord, type RecordCells } from "./rebuild.ts";

/** Every number as the text it was written in, so that nothing is rounded and NaN survives: independent of our reader. */
export function readIndependently(text: string): unknown {
  const tagged = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"#${token}"`,
  );
  return JSON.parse(tagged);
}

export type Tree = Record<string, unknown>;
export interface BatchTree extends Tree {
  readonly spans: Tree[];
  readonly marks: Tree[];
  readonly snapshots: Tree[];
}

export function decoded(input: string | Uint8Array): CirronBatch {
  const result = decodeBatch(typeof input === "string" ? new TextEncoder().encode(input) : input);
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.batch;
}

export function refused(input: string): Fault {
  const result = decodeBatch(new TextEncoder().encode(input));
  if (result.ok) throw new Error("it was taken");
  return result.refusal;
}

export function batchOf(parts: string): string {
  return `{"schema_version":1,"sdk_version":"1.2.3","batch_id":"b1","created_ns":1794710396768536383${parts}}`;
}

export const span = (fields = "") => `{"id":"s1","name":"step","start_ns":10,"end_ns":20${fields}}`;
export const mark = (fields = "") => `{"id":"m1","span_id":"s1","name":"loss","ts_ns":15${fields}}`;
export const snapshot = (fields = "") => `{"id":"p1","span_id":"s1","tensor_name":"w","ts_ns":15${fields}}`;

export function spanCells(fields: string): Record<string, Cell> {
  return toCells(decoded(batchOf(`,"spans":[${span(fields)}]`)).spans, 0);
}
export function markCells(fields: string): Record<string, Cell> {
  return toCells(decoded(batchOf(`,"marks":[${mark(fields)}]`)).marks, 0);
}
export function snapshotCells(fields: string): Record<string, Cell> {
  return toCells(decoded(batchOf(`,"snapshots":[${snapshot(fields)}]`)).snapshots, 0);
}

/** `#1.50` and `#1.5` are the same number; only integers of many digits stay text. */
export function sameNumbers(tree: unknown): unknown {
  if (typeof tree === "string" && tree.startsWith("#"))
    return tree.length < 17 || /[.eNI]/.test(tree) ? Number(tree.slice(1)) : tree;
  if (Array.isArray(tree)) return tree.map(sameNumbers);
  if (tree === null || typeof tree !== "object") return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, sameNumbers(value)]));
}

export function rebuilt(batch: CirronBatch): BatchTree {
  const all = (kind: "span" | "mark" | "snapshot", rows: object, count: number) =>
    Array.from({ length: count }, (_, row) => {
      const cells = toCells(rows, row) as unknown as RecordCells<typeof kind>;
      return readIndependently(atOnce(formatRecord(kind, cells)).join(""));
    }) as Tree[];
  return {
    spans: all("span", batch.spans, batch.spans.span_id.length),
    marks: all("mark", batch.marks, batch.marks.mark_id.length),
    snapshots: all("snapshot", batch.snapshots, batch.snapshots.snapshot_id.length),
  };
}
