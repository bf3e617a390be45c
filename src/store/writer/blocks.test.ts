import { expect, it } from "vitest";
import { ArrayColumn, DictColumn, Int64Column } from "#base/columns.ts";
import { atOnce } from "#base/turns.ts";
import type { Batch } from "#model/batch.ts";
import type { StateChange } from "#model/state-tables.ts";
import { type AnyColumn, createRows, type FactTable, type Rows } from "#model/tables.ts";
import { columnOf, decodeBlocks } from "#store/native/decode-block.ts";
import { createBlockMaker } from "./blocks.ts";
import { nameOf } from "./plan.ts";
import { rowsPerBlock } from "./series-count.ts";

/** Whatever is not filled yet gets its type's empty value. */
function padRows<T extends FactTable>(rows: Rows<T>, length: number): Rows<T> {
  for (const column of Object.values<AnyColumn>(rows)) {
    const nothing = column instanceof Int64Column ? 0n : column instanceof DictColumn ? "" : 0;
    if (column instanceof ArrayColumn) while (column.length < length) column.finishRow();
    else (column as { padTo(length: number, value: unknown): void }).padTo(length, nothing);
  }
  return rows;
}

function metricRows(points: Iterable<readonly [group: string, key: string, worker: string, value: number]>) {
  const rows = createRows("metrics");
  for (const [group, key, worker, value] of points) {
    rows.group_key.push(group);
    rows.key.push(key);
    rows.worker.push(worker);
    rows.phase.push("");
    rows.value.present().push(value);
  }
  return padRows(rows, rows.key.length);
}

it("cuts an event of more metrics than the engine can sum up at once into blocks that it can", async () => {
  const points = Array.from({ length: 130_000 }, (_, n) => ["g", `m${n}`, "", n] as const);
  const dropped = new Uint8Array(points.length);
  dropped[70_000] = 1;
  const parts = [{ table: "metrics" as const, rows: metricRows(points), dropped }];
  const batch: Batch = { first: 1, position: 1, parts, state: [], bytes: 1 };
  const blocks = await createBlockMaker("c").encode([batch]);
  expect(blocks.map((block) => [nameOf(block), block.rows])).toEqual([
    ["metrics", 43_333],
    ["metrics_1", 43_333],
    ["metrics_2", 43_333],
  ]);
  const keys = blocks.flatMap(({ bytes }) =>
    [...decodeBlocks(bytes)].flatMap((block) => {
      const { codes, keys: own } = columnOf(block, "key", "dict");
      return Array.from(codes, (code) => own[code]);
    }),
  );
  expect(keys).toEqual(points.filter((_, row) => row !== 70_000).map(([, key]) => key));
});

it("cuts lines that are many megabytes together into blocks of no more than memory is kept for", async () => {
  const rows = createRows("nodes");
  for (let n = 0; n < 70; n++) rows.payload.push(`${n} ${"x".repeat(1024 * 1024)}`);
  const parts = [{ table: "nodes" as const, rows: padRows(rows, 70), dropped: null }];
  const blocks = await createBlockMaker("c").encode([{ first: 1, position: 1, parts, state: [], bytes: 1 }]);
  expect(blocks.map((block) => [nameOf(block), block.rows])).toEqual([
    ["nodes", 24],
    ["nodes_1", 24],
    ["nodes_2", 22],
  ]);
  for (const { bytes } of blocks) expect(bytes.length).toBeLessThan(32 * 1024 * 1024);
});

it("counts a series once, however many points and parts it has, and by worker", () => {
  const few = Array.from({ length: 40 }, (_, n) => ["g", `m${n % 4}`, "", n] as const);
  expect(atOnce(rowsPerBlock([metricRows(few), metricRows(few)], 8))).toBe(Number.POSITIVE_INFINITY);
  const workers = Array.from({ length: 40 }, (_, n) => ["g", `m${n % 4}`, `w${n % 20}`, n] as const);
  expect(atOnce(rowsPerBlock([metricRows(workers), metricRows(workers)], 8))).toBe(32);
  const groups = Array.from({ length: 40 }, (_, n) => [`g${n}`, "m", "", n] as const);
  expect(atOnce(rowsPerBlock([metricRows(few), metricRows(groups)], 8))).toBe(14);
});

it("writes only the last of the rows that tell of one Cirron process", async () => {
  const tell = (group_key: string, spans: number, version: bigint): StateChange => ({
    table: "cirron_components",
    row: {
      ...{ group_key, workspace: "default", merged_into: "", first_ns: 1n, last_ns: 2n, sources: "[]" },
      ...{ state: `{"spans":${spans}}`, version },
    },
  });
  const toBatch = (position: number, state: StateChange[]): Batch => {
    return { first: position, position, parts: [], state, bytes: 1 };
  };
  const blocks = await createBlockMaker("c").encode([
    toBatch(1, [tell("a", 1, 5n), tell("b", 1, 5n)]),
    toBatch(2, [tell("a", 2, 6n)]),
    // What another collector told in between counts for more.
    toBatch(3, [tell("b", 2, 4n)]),
  ]);
  const textsOf = (name: string) =>
    blocks.flatMap(({ bytes: block }) =>
      [...decodeBlocks(block)].map((decoded) => {
        const { bytes, ends } = columnOf(decoded, name, "string");
        return Array.from(ends, (end, row) => Buffer.from(bytes.subarray(ends[row - 1] ?? 0, end)).toString());
      }),
    );
  expect(blocks.map(({ table, rows }) => [table, rows])).toEqual([["cirron_components", 2]]);
  expect(textsOf("group_key")).toEqual([["a", "b"]]);
  expect(textsOf("state")).toEqual([['{"spans":2}', '{"spans":1}']]);
});
