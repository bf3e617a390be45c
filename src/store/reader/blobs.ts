// The keys of blobs: by span and kind, or by run and name for stored files.

import { groupPrefix } from "#model/group-key.ts";
import type { Store } from "#store/store.ts";
import { decimal, readRows, readValue, text } from "./native-rows.ts";

export function readBlobKey(store: Store, workspace: string, owners: readonly string[], kind: string) {
  return readValue(store, text, {
    sql: `SELECT object_key FROM ${store.database}.blobs FINAL WHERE workspace = {workspace:String}
      AND span_id IN {owners:Array(String)} AND kind = {kind:String} AND deleted = 0 LIMIT 1`,
    params: { workspace, owners, kind },
  });
}

const fileRow = { name: text, size: decimal, sha256: text, receivedNs: decimal };

/** Files stored for a run under any of its names. */
export function readStoredFiles(store: Store, workspace: string, runs: readonly string[]) {
  return readRows(store, fileRow, {
    sql: `SELECT substring(kind, 10) AS name, size, sha256, received_ns AS receivedNs
      FROM ${store.database}.blobs FINAL WHERE workspace = {workspace:String} AND span_id IN {runs:Array(String)}
        AND startsWith(kind, 'artifact:') AND deleted = 0 ORDER BY received_ns, name`,
    params: { workspace, runs },
  });
}

export function readBlobsOfSpans(store: Store, workspace: string, spans: readonly string[]) {
  return readRows(
    store,
    { span_id: text, kind: text },
    {
      sql: `SELECT span_id, kind FROM ${store.database}.blobs FINAL
        WHERE workspace = {workspace:String} AND span_id IN {spans:Array(String)} AND deleted = 0`,
      params: { workspace, spans },
    },
  );
}

/** The tensor that a snapshot of a span is of. */
export function readTensorOfSnapshot(store: Store, workspace: string, span: string, snapshot: string) {
  return readValue(store, text, {
    sql: `SELECT toString(tensor_name) FROM ${store.database}.snapshots WHERE snapshot_id = {snapshot:String}
      AND span_id = {span:String} AND startsWith(group_key, {prefix:String}) LIMIT 1`,
    params: { snapshot, span, prefix: groupPrefix(workspace) },
  });
}
