// Where blobs are: by span and kind, or by run and name for stored files.

import type { Query } from "#store/store.ts";

export function blobQuery(database: string, workspace: string, owners: readonly string[], kind: string): Query {
  return {
    sql: `SELECT object_key FROM ${database}.blobs FINAL WHERE workspace = {workspace:String}
      AND span_id IN {owners:Array(String)} AND kind = {kind:String} AND deleted = 0 LIMIT 1`,
    params: { workspace, owners: [...owners], kind },
  };
}

export function blobsOfRunsQuery(database: string, workspace: string, runs: readonly string[]): Query {
  return {
    sql: `SELECT substring(kind, 10) AS name, size, sha256, content_type AS contentType, received_ns AS receivedNs
      FROM ${database}.blobs FINAL WHERE workspace = {workspace:String} AND span_id IN {runs:Array(String)}
        AND startsWith(kind, 'artifact:') AND deleted = 0 ORDER BY received_ns, name`,
    params: { workspace, runs: [...runs] },
  };
}

/** The tensor that a snapshot of a span is of. */
export function tensorOfSnapshotQuery(database: string, workspace: string, span: string, snapshot: string): Query {
  return {
    sql: `SELECT toString(tensor_name) AS tensor FROM ${database}.snapshots
      WHERE snapshot_id = {snapshot:String} AND span_id = {span:String} AND startsWith(group_key, {prefix:String}) LIMIT 1`,
    params: { snapshot, span, prefix: `${workspace}/` },
  };
}
