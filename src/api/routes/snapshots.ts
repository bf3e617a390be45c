// Tensors of a run: the list, and one tensor over time.

import { type ApiContext, groupKeys, resolveRun, toBigInt } from "#api/context.ts";
import { type Float, toFloat } from "#api/contract/scalar.ts";
import type { Snapshot, SnapshotsAnswer, TensorAnswer, TensorInfo } from "#api/contract/snapshot.ts";
import { toExactJson } from "#api/exact-json.ts";
import type { Handler } from "#api/handler.ts";
import type { SnapshotRecord, TensorRecord } from "#api/reads.ts";
import { Refusal } from "#api/refusal.ts";
import { toFiniteStats, toNonfiniteCount } from "#query/tensors/finite-stats.ts";
import { changeOf, hintsOf, kindOf, pairOf, thin } from "#query/tensors/tensor-info.ts";

const normsMax = 48;
const rowsDefault = 200;

export function snapshotsRoute(context: ApiContext): Handler<"snapshots"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const window = {
      groups: groupKeys(run),
      fromNs: toBigInt(request.query.from_ns),
      toNs: toBigInt(request.query.to_ns),
    };
    const records = await context.reads.tensors(window, null);
    const all = new Set(records.map((record) => record.tensor));
    return toExactJson<SnapshotsAnswer>({ tensors: records.map((record) => toInfo(record, all)), as_of: asOf });
  };
}

export function tensorRoute(context: ApiContext): Handler<"tensor"> {
  return async (request) => {
    const { params, query, caller } = request;
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const window = { groups: groupKeys(run), fromNs: toBigInt(query.from_ns), toNs: toBigInt(query.to_ns) };
    const [records, pair, rows] = await Promise.all([
      context.reads.tensors(window, params.tensor),
      context.reads.tensors({ ...window, fromNs: null, toNs: null }, pairName(params.tensor)),
      context.reads.tensorRows(window, params.tensor, query.limit ?? rowsDefault),
    ]);
    const [record] = records;
    if (record === undefined) throw unknownTensor(params.tensor);
    const stored = await context.reads.blobsOfSpans(caller.workspace, [...new Set(rows.map((row) => row.span_id))]);
    const shared = params.tensor.endsWith(".grad") ? "gradients" : "weights";
    const names = new Set(stored.map((blob) => `${blob.span_id}/${blob.kind}`));
    const isStored = (row: SnapshotRecord) =>
      names.has(`${row.span_id}/${shared}`) || names.has(`${row.span_id}/${row.id}`);
    const all = new Set([params.tensor, ...pair.map((one) => one.tensor)]);
    return toExactJson<TensorAnswer>({
      ...toInfo(record, all),
      total: rows[0]?.total ?? 0,
      rows: rows.map((row) => toSnapshot(row, isStored(row))),
      as_of: asOf,
    });
  };
}

function toSnapshot({ total: _, ...row }: SnapshotRecord, isStored: boolean): Snapshot {
  const finite = toFiniteStats(row.finite);
  const float = (value: number | null) => (value === null ? null : toFloat(value));
  return {
    ...row,
    nonfinite_count: toNonfiniteCount(row.nonfinite_count),
    finite:
      finite === null
        ? null
        : {
            count: finite.count,
            mean: float(finite.mean),
            std: float(finite.std),
            min: float(finite.min),
            max: float(finite.max),
            norm: float(finite.norm),
          },
    blob_stored: isStored,
  };
}

function pairName(tensor: string): string {
  return tensor.endsWith(".grad") ? tensor.slice(0, -5) : `${tensor}.grad`;
}

export function unknownTensor(tensor: string): Refusal {
  return new Refusal("tensor_not_found", `This run has no tensor ${JSON.stringify(tensor)}.`, {
    hint: "GET …/snapshots lists the tensors there are.",
    at: { part: "path", name: "tensor" },
  });
}

function toInfo(record: TensorRecord, all: ReadonlySet<string>): TensorInfo {
  const norms = record.norms.map(toNumber);
  return {
    tensor: record.tensor,
    kind: kindOf(record.tensor, all),
    pair: pairOf(record.tensor, all),
    shape: toShape(record.shape),
    dtype: record.dtype,
    snapshots: record.snapshots,
    blobs: record.blobs,
    first_ns: record.first_ns,
    last_ns: record.last_ns,
    norms: thin(record.norms, normsMax),
    change: changeOf(norms),
    hints: hintsOf({
      tensor: record.tensor,
      norms,
      hasNan: record.has_nan === 1,
      lastMin: toNumber(record.last_min),
      lastMax: toNumber(record.last_max),
      lastStd: toNumber(record.last_std),
    }),
  };
}

function toNumber(value: Float | null): number | null {
  return value === null ? null : Number(value);
}

function toShape(text: string): number[] {
  const parsed: unknown = text === "" ? [] : JSON.parse(text);
  return Array.isArray(parsed) ? parsed.map(Number).filter((size) => Number.isSafeInteger(size) && size >= 0) : [];
}
