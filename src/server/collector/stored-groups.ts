// Stored Cirron groups, read whole: for groups whose component was in a lost plan, and for groups that several
// collectors write to.

import type { StringColumn } from "#base/columns.ts";
import type { CirronRows } from "#intake/cirron/rows.ts";
import type { StoredGroupRows } from "#intake/cirron/stored-group.ts";
import { createRows } from "#model/tables.ts";
import { columnOf, type DecodedBlock } from "#store/native/decode-block.ts";
import { readBatchesOfGroups } from "#store/reader/cirron-identity.ts";
import { absentNumber, readStoredLeaves, readStoredSpans } from "#store/reader/restore.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import type { Store } from "#store/store.ts";

/** The number of questions does not depend on the number of groups. */
export async function readStoredGroups(store: Store, groupKeys: readonly string[]): Promise<StoredGroupRows[]> {
  const [batches, groups, aliases, spans, marks, snapshots] = await Promise.all([
    readBatchesOfGroups(store, groupKeys),
    readGroupRows(store, "groups", groupKeys),
    readGroupRows(store, "aliases", groupKeys),
    readStoredSpans(store, groupKeys),
    readStoredLeaves(store, "mark", groupKeys),
    readStoredLeaves(store, "snapshot", groupKeys),
  ]);
  const living = groups.filter(({ deleted_ns }) => deleted_ns === 0n);
  const batchesOf = Map.groupBy(batches, ({ group_key }) => group_key);
  const toldOf = new Map(living.map((row) => [row.group_key, row]));
  const aliasesOf = Map.groupBy(aliases, ({ group_key }) => group_key);
  const rowsOf = new Map(groupKeys.map((key) => [key, createCirronRows()]));
  for (const block of spans) pushSpans(block, targetsOf(block, rowsOf, "spans"));
  for (const block of marks) pushLeaves(block, targetsOf(block, rowsOf, "marks"), "mark_id");
  for (const block of snapshots) pushLeaves(block, targetsOf(block, rowsOf, "snapshots"), "snapshot_id");
  return groupKeys.map((groupKey) => {
    const came = batchesOf.get(groupKey) ?? [];
    return {
      groupKey,
      rows: rowsOf.get(groupKey) as CirronRows,
      sources: came.map(({ source }) => source),
      runOverrides: came.flatMap(({ run_override }) => (run_override === "" ? [] : [run_override])),
      told: toldOf.get(groupKey) ?? null,
      aliases: (aliasesOf.get(groupKey) ?? []).map(({ alias }) => alias),
    };
  });
}

type Spans = CirronRows["spans"];
type Leaves = CirronRows["marks"] | CirronRows["snapshots"];

function createCirronRows(): CirronRows {
  return { spans: createRows("spans"), marks: createRows("marks"), snapshots: createRows("snapshots") };
}

/** Gives, for each row of a block, where to put it: the rows of its group. */
function targetsOf<T extends keyof CirronRows>(
  block: DecodedBlock,
  rowsOf: ReadonlyMap<string, CirronRows>,
  table: T,
): (row: number) => CirronRows[T] {
  const { keys, codes } = columnOf(block, "group_key", "dict");
  const targets = keys.map((key) => rowsOf.get(key)?.[table]);
  return (row) => targets[codes[row] as number] as CirronRows[T];
}

function pushSpans(block: DecodedBlock, targetOf: (row: number) => Spans): void {
  const names = columnOf(block, "name", "dict");
  const ids = columnOf(block, "span_id", "string");
  const parents = columnOf(block, "parent_id", "string");
  const attrs = columnOf(block, "attrs", "string");
  const noParent = columnOf(block, "no_parent", "uint8").values;
  const start = columnOf(block, "start_ns", "int64").values;
  const end = columnOf(block, "end_ns", "int64").values;
  const pid = columnOf(block, "pid", "int64").values;
  const thread = columnOf(block, "thread_id", "int64").values;
  const rank = columnOf(block, "rank", "int32").values;
  const hash = columnOf(block, "content_hash", "uint32").values;
  for (let row = 0; row < block.rows; row++) {
    const spans = targetOf(row);
    pushText(spans.span_id, ids, row);
    if (noParent[row] === 1) spans.parent_id.pushNull();
    else pushText(spans.parent_id.present(), parents, row);
    spans.name.push(names.keys[names.codes[row] as number] as string);
    spans.start_ns.pushBigInt(start[row] as bigint);
    spans.end_ns.pushBigInt(end[row] as bigint);
    pushNullable(spans.pid, pid[row] as bigint);
    pushNullable(spans.thread_id, thread[row] as bigint);
    spans.rank.push(rank[row] as number);
    pushText(spans.attrs, attrs, row);
    spans.content_hash.push(hash[row] as number);
  }
}

function pushLeaves<K extends "mark_id" | "snapshot_id">(
  block: DecodedBlock,
  targetOf: (row: number) => Leaves & Readonly<Record<K, StringColumn>>,
  idColumn: K,
): void {
  const ids = columnOf(block, "id", "string");
  const spans = columnOf(block, "span_id", "string");
  const times = columnOf(block, "ts_ns", "int64").values;
  const hash = columnOf(block, "content_hash", "uint32").values;
  for (let row = 0; row < block.rows; row++) {
    const rows = targetOf(row);
    pushText(rows[idColumn], ids, row);
    pushText(rows.span_id, spans, row);
    rows.ts_ns.pushBigInt(times[row] as bigint);
    rows.content_hash.push(hash[row] as number);
  }
}

function pushText(target: StringColumn, source: { bytes: Uint8Array; ends: Uint32Array }, row: number): void {
  target.pushBytes(source.bytes, row === 0 ? 0 : (source.ends[row - 1] as number), source.ends[row] as number);
}

function pushNullable(column: Spans["pid"], value: bigint): void {
  if (value === absentNumber) column.pushNull();
  else column.present().pushBigInt(value);
}
