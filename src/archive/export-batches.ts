// Which Cirron batch the rows of a journal record came in. Rows do not name their batch, and answers do not depend on
// it; but a batch that is imported under its own id is recognised where it is known already.

import { createHash } from "node:crypto";
import type { BatchHead } from "#protocol/stored-record.ts";
import type { BatchRecord, BatchRow } from "#store/reader/export-records.ts";

export function assignBatches(batches: readonly BatchRow[], records: readonly BatchRecord[]): Map<string, BatchHead> {
  const left = Map.groupBy(batches, (row) => row.group_key);
  const assigned = new Map<string, BatchHead>();
  // The moment of arrival tells them apart, unless a batch arrived again: then its row has the later moment.
  for (const record of records) {
    const rows = left.get(record.group_key) ?? [];
    const at = rows.findIndex((row) => row.received_ns === record.received_ns);
    if (at >= 0) assigned.set(record.place, toHead(rows.splice(at, 1)[0] as BatchRow));
  }
  for (const record of records) {
    if (assigned.has(record.place)) continue;
    const row = left.get(record.group_key)?.shift();
    assigned.set(record.place, row === undefined ? makeUp(record) : toHead(row));
  }
  return assigned;
}

function toHead(row: BatchRow): BatchHead {
  return {
    batchId: row.batch_id,
    sdkVersion: row.sdk_version,
    createdNs: row.created_ns,
    extra: row.extra,
    isNamed: row.run_override !== "",
    source: digestOf(row.source).slice(0, 16),
  };
}

function makeUp({ place, group_key, received_ns }: BatchRecord): BatchHead {
  const batchId = digestOf(`${group_key}\n${place}`).slice(0, 32);
  return { batchId, sdkVersion: "", createdNs: received_ns, extra: "", isNamed: false, source: batchId.slice(0, 16) };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
