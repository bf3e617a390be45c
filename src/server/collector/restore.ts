// Folds the store's rows into intake's state at start. The journal's part follows by ordinary replay.

import { setTimeout as sleep } from "node:timers/promises";
import type { StringColumn } from "#base/columns.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import type { CirronRows } from "#intake/cirron/rows.ts";
import type { Doubles, StoredBatch } from "#intake/cirron/workspace.ts";
import { loadIdentity } from "#intake/record-identity.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import { hasTrait } from "#protocol/facts.ts";
import { columnOf, type DecodedBlock } from "#store/native/decode-block.ts";
import { isRetryable } from "#store/outage.ts";
import {
  type Arrivals,
  absentNumber,
  readCapturedLines,
  readEventIdentities,
  readStateRows,
  readStoredBatches,
  readStoredLines,
  readStoredMarks,
  readStoredSnapshots,
  readStoredSpans,
  readWritten,
} from "#store/reader/restore.ts";
import type { Store } from "#store/store.ts";

export interface Restored {
  /** What the stored mapping lacks, to be written with the next plan. */
  readonly changes: StateChange[];
  /** Rows that another collector's copy stands beside. */
  readonly doubles: readonly Doubles[];
}

export async function restoreIntake(store: Store, applier: ProtocolApplier, nowNs: bigint): Promise<Restored> {
  await restoreLines(store, applier);
  for (const groupKey of await readWritten(store, applier.writer)) applier.written.add(groupKey);
  const groups = await readStateRows<Record<keyof StateRow<"groups">, string>>(store, "groups");
  for (const row of groups) {
    const group = toGroupRow(row);
    if (hasTrait(group.protocol, "sessions")) applier.cirronOf(group.workspace).map.restore(group);
    else applier.groups.restore(group);
  }
  const aliases = await readStateRows<StateRow<"aliases">>(store, "aliases");
  for (const { workspace, alias, group_key } of aliases) applier.cirronOf(workspace).map.restoreAlias(alias, group_key);
  const doubles: Doubles[] = [];
  for (const [key, { rows, batches }] of await readCirron(store, null))
    doubles.push(applier.cirronOf(parseGroupKey(key).workspace).restore(key, rows, batches));
  const changes = applier.cirronStates().flatMap((state) => state.finishRestore(nowNs));
  return { changes, doubles: doubles.filter(hasDoubles) };
}

export function hasDoubles({ ids }: Doubles): boolean {
  return ids.spans.length + ids.marks.length + ids.snapshots.length > 0;
}

/**
 * The identities of a group's stored events. A store that is away is waited for, since a copy of an own event would be
 * shown; of a group that only others may have written, readers leave copies out, and nobody waits.
 */
export async function loadIdentities(
  store: Store,
  groupKey: string,
  take: (worker: string, seq: bigint, tsNs: bigint) => void,
  isKnown: boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const options = isKnown ? {} : { signal: AbortSignal.timeout(foreignWaitMs) };
      for await (const row of readEventIdentities(store, groupKey, options))
        take(row.worker, BigInt(row.seq), BigInt(row.ts_ns));
      return;
    } catch (error) {
      if (!isKnown) return;
      if (!isRetryable(error)) throw error;
      await sleep(Math.min(2000, 50 * 2 ** attempt), undefined, { ref: false });
    }
  }
}

const foreignWaitMs = 2000;

export function toGroupRow(row: Record<keyof StateRow<"groups">, string | number | null>): StateRow<"groups"> {
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

/** The rows of a group, as far as grouping and identity need them. */
export interface StoredGroup {
  readonly rows: CirronRows;
  readonly batches: StoredBatch[];
}

export async function readCirron(store: Store, only: Arrivals | null): Promise<Map<string, StoredGroup>> {
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
  for (const batch of await readStoredBatches(store, only))
    groupOf(batch.group_key).batches.push({
      batchId: batch.batch_id,
      source: batch.source,
      contentHash: batch.content_hash,
      runOverride: batch.run_override,
    });
  for (const block of await readStoredSpans(store, only)) pushSpans(block, (key) => groupOf(key).rows.spans);
  for (const block of await readStoredMarks(store, only))
    pushLeaves(block, (key) => {
      const { marks } = groupOf(key).rows;
      return { ids: marks.mark_id, rows: marks };
    });
  for (const block of await readStoredSnapshots(store, only))
    pushLeaves(block, (key) => {
      const { snapshots } = groupOf(key).rows;
      return { ids: snapshots.snapshot_id, rows: snapshots };
    });
  return groups;
}

type Spans = CirronRows["spans"];

function pushSpans(block: DecodedBlock, spansOf: (groupKey: string) => Spans): void {
  const groups = columnOf(block, "group_key", "dict");
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
    const spans = spansOf(groups.keys[groups.codes[row] as number] as string);
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

interface Leaves {
  readonly ids: StringColumn;
  readonly rows: CirronRows["marks"] | CirronRows["snapshots"];
}

function pushLeaves(block: DecodedBlock, leavesOf: (groupKey: string) => Leaves): void {
  const groups = columnOf(block, "group_key", "dict");
  const ids = columnOf(block, "id", "string");
  const spans = columnOf(block, "span_id", "string");
  const times = columnOf(block, "ts_ns", "int64").values;
  const hash = columnOf(block, "content_hash", "uint32").values;
  for (let row = 0; row < block.rows; row++) {
    const leaves = leavesOf(groups.keys[groups.codes[row] as number] as string);
    pushText(leaves.ids, ids, row);
    pushText(leaves.rows.span_id, spans, row);
    leaves.rows.ts_ns.pushBigInt(times[row] as bigint);
    leaves.rows.content_hash.push(hash[row] as number);
  }
}

function pushText(target: StringColumn, source: { bytes: Uint8Array; ends: Uint32Array }, row: number): void {
  target.pushBytes(source.bytes, row === 0 ? 0 : (source.ends[row - 1] as number), source.ends[row] as number);
}

function pushNullable(column: Spans["pid"], value: bigint): void {
  if (value === absentNumber) column.pushNull();
  else column.present().pushBigInt(value);
}
