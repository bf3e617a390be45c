// A decoded Cirron batch becomes rows: stamped with its group and arrival, its numeric marks also as points.

import { hash } from "node:crypto";
import type { Applied } from "#intake/applied.ts";
import { toFaultParts } from "#intake/fault-rows.ts";
import type { Arrival } from "#intake/input.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { CirronBatch } from "#wire/cirron/batch.ts";
import { toMetricRows } from "./metric-rows.ts";
import { stampRows } from "./rows.ts";
import type { CirronArrival, CirronOutcome, CirronWorkspace } from "./workspace.ts";

/** A batch as it came. */
export interface ArrivedBody extends Arrival {
  readonly body: Uint8Array;
}

export function* applyCirronBatch(
  workspace: CirronWorkspace,
  position: number,
  input: ArrivedBody,
  batch: CirronBatch,
  contentHash: string = hash("sha256", input.body, "hex"),
): Generator<void, Applied> {
  const outcome = yield* workspace.apply(toArrival(input, batch, contentHash, position));
  yield;
  return yield* toApplied(input, batch, outcome, position);
}

function toArrival(
  { source, runOverride, imported, receivedNs }: Arrival,
  { batchId, spans, marks, snapshots }: CirronBatch,
  contentHash: string,
  position: number,
): CirronArrival {
  const rows = { spans, marks, snapshots };
  return { batchId, contentHash, rows, source, runOverride, imported, receivedNs, position };
}

/** The rows and changes that a batch becomes by its outcome. */
function* toApplied(
  input: ArrivedBody,
  batch: CirronBatch,
  outcome: CirronOutcome,
  position: number,
): Generator<void, Applied> {
  const { spans, marks, snapshots } = batch;
  const rows = { spans, marks, snapshots };
  const faults = outcome.isRepeat ? [] : [...batch.faults, ...toConflicts(outcome.faults, input)];
  const state = [...outcome.changes, ledgerRow(input, batch, outcome)];
  const counts = { accepted: outcome.accepted, duplicates: outcome.duplicates, faults };
  if (outcome.isRepeat) return { parts: [], state, ...counts };
  yield* stampRows(rows, { groupKey: outcome.groupKey, receivedNs: input.receivedNs, position });
  return { parts: yield* toParts(rows, outcome, faults, position, input), state, ...counts };
}

function* toParts(
  rows: Pick<CirronBatch, "spans" | "marks" | "snapshots">,
  outcome: CirronOutcome,
  faults: readonly Fault[],
  position: number,
  input: ArrivedBody,
): Generator<void, AnyTablePart[]> {
  const parts: AnyTablePart[] = [];
  if (rows.spans.span_id.length > 0) parts.push({ table: "spans", rows: rows.spans, dropped: outcome.dropped.spans });
  if (rows.marks.mark_id.length > 0) {
    parts.push({ table: "marks", rows: rows.marks, dropped: outcome.dropped.marks });
    parts.push({ table: "metrics", rows: yield* toMetricRows(rows.marks, outcome.dropped.marks), dropped: null });
  }
  if (rows.snapshots.snapshot_id.length > 0)
    parts.push({ table: "snapshots", rows: rows.snapshots, dropped: outcome.dropped.snapshots });
  if (outcome.ids.id_key.length > 0) parts.push({ table: "cirron_ids", rows: outcome.ids, dropped: null });
  const placed = faults.map((fault) => ({ fault, groupKey: outcome.groupKey }));
  return [...parts, ...toFaultParts(placed, "cirron", { ...input, position }, null)];
}

/**
 * A conflict is found among rows, not bytes, so the whole body is kept to show both contents. It is kept once, because every
 * row of a batch may conflict.
 */
function toConflicts(found: readonly Fault[], input: ArrivedBody): Fault[] {
  const faults = new FaultList<Fault>();
  let hasBody = false;
  for (const fault of found)
    faults.add(() => {
      if (fault.raw.length > 0 || hasBody) return fault;
      hasBody = true;
      return { ...fault, raw: input.body.slice() };
    });
  return faults.toArray(toRestFault);
}

/** For a repeat, the time and place of the first batch stay: they are how its rows are found. */
function ledgerRow(
  input: ArrivedBody,
  batch: CirronBatch,
  { contentHash, groupKey, repeated }: CirronOutcome,
): StateChange {
  return {
    table: "cirron_batches",
    row: {
      workspace: input.workspace,
      batch_id: batch.batchId,
      source: input.source,
      content_hash: contentHash,
      group_key: repeated?.groupKey ?? groupKey,
      run_override: input.runOverride ?? repeated?.runOverride ?? "",
      received_ns: repeated?.receivedNs ?? input.receivedNs,
      sdk_version: batch.sdkVersion,
      created_ns: batch.createdNs,
      spans: batch.spans.span_id.length,
      marks: batch.marks.mark_id.length,
      snapshots: batch.snapshots.snapshot_id.length,
      extra: batch.extra,
      version: input.receivedNs,
    },
  };
}
