// Tensor snapshots: which tensors a run has, and one tensor over time.

import type { Query } from "#store/store.ts";

const inGroups = "group_key IN {groups:Array(String)}";

function windowSql(window: SnapshotWindow): string {
  return `${inGroups}${window.fromNs === null ? "" : " AND ts_ns >= {from_ns:Int64}"}${window.toNs === null ? "" : " AND ts_ns < {to_ns:Int64}"}`;
}

export interface SnapshotWindow {
  readonly groups: readonly string[];
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

function windowParams(window: SnapshotWindow) {
  return {
    groups: [...window.groups],
    ...(window.fromNs === null ? {} : { from_ns: window.fromNs }),
    ...(window.toNs === null ? {} : { to_ns: window.toNs }),
  };
}

/** One row a tensor; its norms in order of time, thinned by whoever shows them. */
export function tensorsQuery(database: string, window: SnapshotWindow, tensor: string | null): Query {
  return {
    sql: `SELECT toString(tensor_name) AS tensor, argMax(shape, ts_ns) AS shape, toString(argMax(dtype, ts_ns)) AS dtype,
        toUInt32(count()) AS snapshots, toUInt32(countIf(isNotNull(blob_uri))) AS blobs,
        min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
        arrayMap(p -> p.2, arraySort(p -> p.1, groupArray((ts_ns, norm)))) AS norms,
        toUInt8(max(arrayExists(value -> NOT isFinite(ifNull(value, 0)), [norm, mean, min, max]))) AS has_nan,
        argMax(tuple(min), ts_ns).1 AS last_min, argMax(tuple(max), ts_ns).1 AS last_max,
        argMax(tuple(std), ts_ns).1 AS last_std
      FROM ${database}.snapshots WHERE ${windowSql(window)} ${tensor === null ? "" : "AND tensor_name = {tensor:String}"}
      GROUP BY tensor_name ORDER BY tensor_name`,
    params: { ...windowParams(window), ...(tensor === null ? {} : { tensor }) },
  };
}

/** Snapshots of one tensor in order of time, evenly thinned to `limit`; the first and last always stay. */
export function tensorRowsQuery(database: string, window: SnapshotWindow, tensor: string, limit: number): Query {
  return {
    sql: `WITH numbered AS (
        SELECT *, row_number() OVER (ORDER BY ts_ns, snapshot_id) AS n, count() OVER () AS total
        FROM ${database}.snapshots WHERE ${windowSql(window)} AND tensor_name = {tensor:String})
      SELECT s.snapshot_id AS id, s.span_id AS span_id, if(e.name = 'epoch', e.index, NULL) AS epoch,
        if(e.name = 'step', e.index, NULL) AS step, if(e.span_id = '', NULL, e.rank) AS rank, s.ts_ns AS ts_ns,
        toString(s.mode) AS mode, s.mean AS mean, s.std AS std, s.min AS min, s.max AS max, s.norm AS norm,
        s.bins AS bins, s.counts AS counts, JSONExtractRaw(s.stats, 'nonfinite_count') AS nonfinite_count,
        JSONExtractRaw(s.stats, 'finite') AS finite, s.blob_uri AS blob_uri, toUInt32(s.total) AS total
      FROM numbered AS s
      LEFT JOIN (SELECT span_id, toString(name) AS name, index, rank FROM ${database}.spans WHERE ${inGroups}) AS e
        ON e.span_id = s.span_id
      WHERE s.total <= {limit:UInt32} OR s.n = s.total
        OR intDiv((s.n - 1) * {limit:UInt32}, s.total) != intDiv((s.n - 2) * {limit:UInt32}, s.total) OR s.n = 1
      ORDER BY ts_ns, id`,
    params: { ...windowParams(window), tensor, limit },
  };
}

/** Which (span, kind) blobs are stored, of these spans. */
export function blobsOfSpansQuery(database: string, workspace: string, spans: readonly string[]): Query {
  return {
    sql: `SELECT span_id, kind, object_key FROM ${database}.blobs FINAL
      WHERE workspace = {workspace:String} AND span_id IN {spans:Array(String)} AND deleted = 0`,
    params: { workspace, spans: [...spans] },
  };
}

export function snapshotQuery(database: string, groups: readonly string[], id: string): Query {
  return {
    sql: `SELECT snapshot_id AS id, span_id, toString(tensor_name) AS tensor, shape, toString(dtype) AS dtype
      FROM ${database}.snapshots WHERE ${inGroups} AND snapshot_id = {id:String} LIMIT 1`,
    params: { groups: [...groups], id },
  };
}
