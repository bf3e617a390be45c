// Folds the store's rows into intake's state at start. The journal's part follows by ordinary replay.

import type { ProtocolApplier } from "#intake/applier.ts";
import type { CirronRows } from "#intake/cirron/rows.ts";
import type { StoredBatch } from "#intake/cirron/workspace.ts";
import { loadIdentity } from "#intake/record-identity.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import {
  readCapturedLines,
  readStateRows,
  readStoredBatches,
  readStoredLines,
  readStoredMarks,
  readStoredSnapshots,
  readStoredSpans,
  type StoredLeaf,
  type StoredSpan,
} from "#store/reader/restore.ts";
import type { Store } from "#store/store.ts";

/** Returns what the stored mapping lacks, to be written with the next plan. */
export async function restoreIntake(store: Store, applier: ProtocolApplier, nowNs: bigint): Promise<StateChange[]> {
  await restoreLines(store, applier);
  const groups = await readStateRows<Record<keyof StateRow<"groups">, string>>(store, "groups");
  for (const row of groups) {
    const group = toGroupRow(row);
    if (group.protocol === "cirron") applier.cirronOf(group.workspace).map.restore(group);
    else applier.groups.restore(group);
  }
  const aliases = await readStateRows<StateRow<"aliases">>(store, "aliases");
  for (const { workspace, alias, group_key } of aliases) applier.cirronOf(workspace).map.restoreAlias(alias, group_key);
  await restoreCirron(store, applier);
  return applier.cirronStates().flatMap((state) => state.finishRestore(nowNs));
}

function toGroupRow(row: Record<keyof StateRow<"groups">, string | number | null>): StateRow<"groups"> {
  return {
    ...(row as unknown as StateRow<"groups">),
    deleted_ns: BigInt(row.deleted_ns as string),
    version: BigInt(row.version as string),
  };
}

async function restoreLines(store: Store, applier: ProtocolApplier): Promise<void> {
  for await (const { workspace, id } of readStoredLines(store)) {
    loadIdentity(Buffer.from(id, "hex"), workspace);
    applier.seen.set(0);
  }
  for await (const line of readCapturedLines(store))
    applier.noteCapturedLine(line.group_key, line.stream, Number(line.offset));
}

interface StoredGroup {
  readonly rows: CirronRows;
  readonly batches: StoredBatch[];
}

async function restoreCirron(store: Store, applier: ProtocolApplier): Promise<void> {
  const groups = new Map<string, StoredGroup>();
  const groupOf = (key: string): StoredGroup => {
    let group = groups.get(key);
    if (group === undefined) {
      const rows = { spans: createRows("spans"), marks: createRows("marks"), snapshots: createRows("snapshots") };
      group = { rows, batches: [] };
      groups.set(key, group);
    }
    return group;
  };
  for (const batch of await readStoredBatches(store))
    groupOf(batch.group_key).batches.push({
      batchId: batch.batch_id,
      source: batch.source,
      contentHash: batch.content_hash,
      runOverride: batch.run_override,
    });
  for await (const span of readStoredSpans(store)) pushSpan(groupOf(span.group_key).rows.spans, span);
  for await (const mark of readStoredMarks(store)) {
    const { marks } = groupOf(mark.group_key).rows;
    marks.mark_id.push(mark.id);
    pushLeaf(marks, mark);
  }
  for await (const snapshot of readStoredSnapshots(store)) {
    const { snapshots } = groupOf(snapshot.group_key).rows;
    snapshots.snapshot_id.push(snapshot.id);
    pushLeaf(snapshots, snapshot);
  }
  for (const [key, { rows, batches }] of groups) {
    const workspace = key.slice(0, key.lastIndexOf("/c/"));
    applier.cirronOf(workspace).restore(key, rows, batches);
  }
}

function pushSpan(spans: CirronRows["spans"], span: StoredSpan): void {
  spans.span_id.push(span.span_id);
  if (span.parent_id === null) spans.parent_id.pushNull();
  else spans.parent_id.present().push(span.parent_id);
  spans.name.push(span.name);
  spans.start_ns.pushBigInt(BigInt(span.start_ns));
  spans.end_ns.pushBigInt(BigInt(span.end_ns));
  for (const name of ["pid", "thread_id"] as const) {
    const value = span[name];
    if (value === null) spans[name].pushNull();
    else spans[name].present().pushBigInt(BigInt(value));
  }
  spans.rank.push(span.rank);
  spans.attrs.push(span.attrs);
  spans.content_hash.push(span.content_hash);
}

function pushLeaf(rows: CirronRows["marks"] | CirronRows["snapshots"], leaf: StoredLeaf): void {
  rows.span_id.push(leaf.span_id);
  rows.ts_ns.pushBigInt(BigInt(leaf.ts_ns));
  rows.content_hash.push(leaf.content_hash);
}
