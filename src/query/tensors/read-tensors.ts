// Tensors of a run: the list, and one tensor over time.

import { blobKindOf } from "#query/files.ts";
import type { Sources } from "#query/sources.ts";
import { readBlobsOfSpans } from "#store/reader/blobs.ts";
import * as reader from "#store/reader/snapshots.ts";
import type { TimeWindow } from "#store/reader/time-window.ts";
import { toFiniteStats, toNonfiniteCount } from "./finite-stats.ts";
import { changeOf, hintsOf, kindOf, pairOf, thin } from "./tensor-info.ts";

export const { readSnapshot } = reader;

const normsMax = 48;

export async function listTensors({ store }: Sources, window: TimeWindow) {
  const rows = await reader.readTensors(store, window, null);
  const all = new Set(rows.map((row) => row.tensor));
  return rows.map((row) => toInfo(row, all));
}

/** Null when the run has no such tensor in the window. */
export async function readTensor(
  { store }: Sources,
  workspace: string,
  window: TimeWindow,
  { tensor, limit }: { readonly tensor: string; readonly limit: number },
) {
  const anyTime = { ...window, fromNs: null, toNs: null };
  const [[row], pairs, snapshots] = await Promise.all([
    reader.readTensors(store, window, tensor),
    reader.readTensors(store, anyTime, pairName(tensor)),
    reader.readSnapshots(store, window, tensor, limit),
  ]);
  if (row === undefined) return null;
  const spans = [...new Set(snapshots.map((snapshot) => snapshot.span_id))];
  const stored = await readBlobsOfSpans(store, workspace, spans);
  const names = new Set(stored.map((blob) => `${blob.span_id}/${blob.kind}`));
  return {
    ...toInfo(row, new Set([tensor, ...pairs.map((one) => one.tensor)])),
    total: snapshots[0]?.total ?? 0,
    rows: snapshots.map(({ total: _, ...row }) => ({
      ...row,
      nonfinite_count: toNonfiniteCount(row.nonfinite_count),
      finite: toFiniteStats(row.finite),
      blob_stored: names.has(`${row.span_id}/${blobKindOf(tensor)}`) || names.has(`${row.span_id}/${row.id}`),
    })),
  };
}

function pairName(tensor: string): string {
  return tensor.endsWith(".grad") ? tensor.slice(0, -5) : `${tensor}.grad`;
}

function toInfo(row: reader.TensorRow, all: ReadonlySet<string>) {
  const norms = row.norms.map(toNumber);
  return {
    tensor: row.tensor,
    kind: kindOf(row.tensor, all),
    pair: pairOf(row.tensor, all),
    shape: toShape(row.shape),
    dtype: row.dtype,
    snapshots: row.snapshots,
    blobs: row.blobs,
    first_ns: row.first_ns,
    last_ns: row.last_ns,
    norms: thin(row.norms, normsMax),
    change: changeOf(norms),
    hints: hintsOf({
      tensor: row.tensor,
      norms,
      hasNan: row.has_nan,
      lastMin: toNumber(row.last_min),
      lastMax: toNumber(row.last_max),
    }),
  };
}

function toNumber(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}

function toShape(json: string): number[] {
  const parsed: unknown = json === "" ? [] : JSON.parse(json);
  return Array.isArray(parsed) ? parsed.map(Number).filter((size) => Number.isSafeInteger(size) && size >= 0) : [];
}
