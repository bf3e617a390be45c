// A Cirron group as it is stored, read whole: for groups of a release that kept no components.

import type { StringColumn } from "#base/columns.ts";
import type { CirronRows } from "#intake/cirron/rows.ts";
import type { StoredGroupRows } from "#intake/cirron/stored-group.ts";
import type { StateRow } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import { columnOf, type DecodedBlock } from "#store/native/decode-block.ts";
import { readBatchesOfGroup } from "#store/reader/cirron-identity.ts";
import {
  absentNumber,
  readGroupRows,
  readStoredMarks,
  readStoredSnapshots,
  readStoredSpans,
} from "#store/reader/restore.ts";
import type { Store } from "#store/store.ts";

export async function readStoredGroup(store: Store, groupKey: string): Promise<StoredGroupRows> {
  const [batches, groups, aliases, spans, marks, snapshots] = await Promise.all([
    readBatchesOfGroup(store, groupKey),
    readGroupRows<Record<keyof StateRow<"groups">, string>>(store, "groups", [groupKey]),
    readGroupRows<StateRow<"aliases">>(store, "aliases", [groupKey]),
    readStoredSpans(store, groupKey),
    readStoredMarks(store, groupKey),
    readStoredSnapshots(store, groupKey),
  ]);
  const rows = { spans: createRows("spans"), marks: createRows("marks"), snapshots: createRows("snapshots") };
  for (const block of spans) pushSpans(block, rows.spans);
  for (const block of marks) pushLeaves(block, rows.marks.mark_id, rows.marks);
  for (const block of snapshots) pushLeaves(block, rows.snapshots.snapshot_id, rows.snapshots);
  const [told] = groups.map(toGroupRow).filter(({ deleted_ns }) => deleted_ns === 0n);
  return {
    groupKey,
    rows,
    sources: batches.map(({ source }) => source),
    runOverrides: batches.flatMap(({ run_override }) => (run_override === "" ? [] : [run_override])),
    told: told ?? null,
    aliases: aliases.map(({ alias }) => alias),
  };
}

export function toGroupRow(row: Record<keyof StateRow<"groups">, string | number | null>): StateRow<"groups"> {
  return {
    ...(row as unknown as StateRow<"groups">),
    deleted_ns: BigInt(row.deleted_ns as string),
    version: BigInt(row.version as string),
  };
}

type Spans = CirronRows["spans"];

function pushSpans(block: DecodedBlock, spans: Spans): void {
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

function pushLeaves(
  block: DecodedBlock,
  leafIds: StringColumn,
  rows: CirronRows["marks"] | CirronRows["snapshots"],
): void {
  const ids = columnOf(block, "id", "string");
  const spans = columnOf(block, "span_id", "string");
  const times = columnOf(block, "ts_ns", "int64").values;
  const hash = columnOf(block, "content_hash", "uint32").values;
  for (let row = 0; row < block.rows; row++) {
    pushText(leafIds, ids, row);
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
