// Tensor snapshots: which tensors a run has, and one tensor over time.

import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, flag, floatWord, int, list, nullable, type RowOf, readRow, readRows, text } from "./native-rows.ts";
import { inTimeWindow, type TimeWindow, windowParams } from "./time-window.ts";

const tensorRow = {
  tensor: text,
  shape: text,
  dtype: text,
  snapshots: int,
  blobs: int,
  first_ns: decimal,
  last_ns: decimal,
  norms: list(nullable(floatWord)),
  has_nan: flag,
  last_min: nullable(floatWord),
  last_max: nullable(floatWord),
};
export type TensorRow = RowOf<typeof tensorRow>;

/** The order of a tensor's snapshots. */
const place = "(ts_ns, snapshot_id)";

/** One row a tensor; its norms in order of time, thinned by whoever shows them. */
export function readTensors(store: Store, window: TimeWindow, tensor: string | null): Promise<TensorRow[]> {
  return readRows(store, tensorRow, {
    sql: `SELECT toString(tensor_name) AS tensor, argMax(shape, ${place}) AS shape, toString(argMax(dtype, ${place})) AS dtype,
        toUInt32(count()) AS snapshots, toUInt32(countIf(isNotNull(blob_uri))) AS blobs,
        min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
        arrayMap(p -> p.2, arraySort(p -> p.1, groupArray((${place}, norm)))) AS norms,
        toUInt8(max(arrayExists(value -> NOT isFinite(ifNull(value, 0)), [norm, mean, min, max]))) AS has_nan,
        argMax(tuple(min), ${place}).1 AS last_min, argMax(tuple(max), ${place}).1 AS last_max
      FROM ${store.database}.snapshots WHERE ${inTimeWindow("ts_ns", window)}
        ${tensor === null ? "" : "AND tensor_name = {tensor:String}"}
      GROUP BY tensor_name ORDER BY tensor_name`,
    params: { ...windowParams(window), ...(tensor === null ? {} : { tensor }) },
  });
}

const snapshotRow = {
  id: text,
  span_id: text,
  epoch: nullable(decimal),
  step: nullable(decimal),
  rank: nullable(int),
  ts_ns: decimal,
  mode: text,
  mean: nullable(floatWord),
  std: nullable(floatWord),
  min: nullable(floatWord),
  max: nullable(floatWord),
  norm: nullable(floatWord),
  bins: list(floatWord),
  counts: list(floatWord),
  /** JSON text as sent, '' when they were not. */
  nonfinite_count: text,
  finite: text,
  blob_uri: nullable(text),
  total: int,
};

/** Snapshots of one tensor in order of time, evenly thinned to `limit`; the first and last always stay. */
export function readSnapshots(store: Store, window: TimeWindow, tensor: string, limit: number) {
  const { database } = store;
  return readRows(store, snapshotRow, {
    sql: `WITH numbered AS (
        SELECT *, row_number() OVER (ORDER BY ts_ns, snapshot_id) AS n, count() OVER () AS total
        FROM ${database}.snapshots WHERE ${inTimeWindow("ts_ns", window)} AND tensor_name = {tensor:String})
      SELECT s.snapshot_id AS id, s.span_id AS span_id, if(e.name = 'epoch', e.index, NULL) AS epoch,
        if(e.name = 'step', e.index, NULL) AS step, if(e.span_id = '', NULL, e.rank) AS rank, s.ts_ns AS ts_ns,
        toString(s.mode) AS mode, s.mean AS mean, s.std AS std, s.min AS min, s.max AS max, s.norm AS norm,
        s.bins AS bins, s.counts AS counts, JSONExtractRaw(s.stats, 'nonfinite_count') AS nonfinite_count,
        JSONExtractRaw(s.stats, 'finite') AS finite, s.blob_uri AS blob_uri, toUInt32(s.total) AS total
      FROM numbered AS s
      LEFT JOIN (SELECT span_id, toString(name) AS name, index, rank FROM ${database}.spans
        WHERE ${inGroups}) AS e ON e.span_id = s.span_id
      WHERE s.total <= {limit:UInt32} OR s.n = s.total
        OR intDiv((s.n - 1) * {limit:UInt32}, s.total) != intDiv((s.n - 2) * {limit:UInt32}, s.total) OR s.n = 1
      ORDER BY ts_ns, id`,
    params: { ...windowParams(window), tensor, limit },
  });
}

/** The span that a snapshot was taken in, and its tensor. */
export function readSnapshot(store: Store, groups: readonly string[], id: string) {
  return readRow(
    store,
    { span_id: text, tensor: text },
    {
      sql: `SELECT span_id, toString(tensor_name) AS tensor FROM ${store.database}.snapshots
        WHERE ${inGroups} AND snapshot_id = {id:String} LIMIT 1`,
      params: { groups, id },
    },
  );
}
