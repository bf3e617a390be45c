// What an export of a run needs beside its records: the batches and files they belong to, and how much there is.

import type { Query } from "#store/store.ts";
import { everyRecord, recordKinds, recordRowsQuery } from "./record-rows.ts";

const inGroups = "group_key IN {groups:Array(String)}";

/** How many rows each journal record has, in order: what is read at once is cut by it. */
export function recordSizesQuery(database: string, groups: readonly string[]): Query {
  const tables = [...new Set(Object.values(recordKinds).map(({ table }) => table))];
  const of = (table: string): string => `SELECT jpos FROM ${database}.${table} WHERE ${inGroups}`;
  return {
    sql: `SELECT jpos, toUInt32(count()) AS rows FROM (${tables.map(of).join(" UNION ALL ")}) GROUP BY jpos ORDER BY jpos`,
    params: { groups: [...groups] },
  };
}

export function recordsBetweenQuery(database: string, groups: readonly string[], from: string, to: string): Query {
  const last = 2 ** 32 - 1;
  return recordRowsQuery(
    database,
    { ...everyRecord, groups },
    [
      [from, 0],
      [to, last],
    ],
    false,
  );
}

export interface BatchLedgerRow {
  readonly batch_id: string;
  readonly group_key: string;
  readonly source: string;
  readonly run_override: string;
  readonly received_ns: string;
  readonly sdk_version: string;
  readonly created_ns: string;
  readonly extra: string;
}

export function batchLedgerQuery(database: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT b.batch_id AS batch_id, argMin(b.group_key, b.received_ns) AS group_key,
        argMin(b.source, b.received_ns) AS source, argMin(b.run_override, b.received_ns) AS run_override,
        min(b.received_ns) AS received_ns, any(b.sdk_version) AS sdk_version, any(b.created_ns) AS created_ns,
        any(b.extra) AS extra
      FROM (SELECT * FROM ${database}.cirron_batches FINAL WHERE ${inGroups}) AS b
      GROUP BY b.batch_id ORDER BY received_ns, batch_id`,
    params: { groups: [...groups] },
  };
}

export interface BatchPlaceRow {
  readonly jpos: string;
  readonly group_key: string;
  readonly received_ns: string;
}

/** Where rows of Cirron batches lie. */
export function batchPlacesQuery(database: string, groups: readonly string[]): Query {
  const of = (table: string): string =>
    `SELECT jpos, group_key, received_ns FROM ${database}.${table} WHERE ${inGroups}`;
  return {
    sql: `SELECT DISTINCT jpos, toString(group_key) AS group_key, received_ns
      FROM (${["spans", "marks", "snapshots"].map(of).join(" UNION ALL ")}) ORDER BY jpos`,
    params: { groups: [...groups] },
  };
}

export interface FaultLineRow {
  readonly id: string;
  readonly group_key: string;
  readonly code: string;
  readonly protocol: string;
  readonly transport: string;
  readonly detail: string;
  readonly place: string;
  readonly raw_base64: string;
}

/** What of these groups could not be understood, the first found first. */
export function faultLinesQuery(database: string, groups: readonly string[], rawBytesMax: number): Query {
  return {
    sql: `SELECT fault_id AS id, toString(group_key) AS group_key, toString(code) AS code, toString(protocol) AS protocol,
        toString(transport) AS transport, detail, place, base64Encode(substring(raw, 1, ${rawBytesMax})) AS raw_base64
      FROM ${database}.faults FINAL WHERE ${inGroups} ORDER BY received_ns, jpos, jrow`,
    params: { groups: [...groups] },
  };
}

export interface CommandLineRow {
  readonly id: string;
  readonly worker: string;
  readonly type: string;
  readonly payload: string;
  readonly state: string;
  readonly reason: string;
  readonly by: string;
  readonly at_ns: string;
  readonly expires_ns: string;
}

/** Every step of the commands that a run was sent. */
export function commandLinesQuery(database: string, workspace: string, run: string): Query {
  return {
    sql: `SELECT cmd_id AS id, worker, toString(type) AS type, payload, toString(state) AS state, reason, author AS by,
        at_ns, expires_ns
      FROM ${database}.commands FINAL WHERE workspace = {workspace:String} AND run_id = {run:String}
      ORDER BY at_ns, cmd_id, worker, state`,
    params: { workspace, run },
  };
}

export interface FileRow {
  readonly span_id: string;
  readonly kind: string;
  readonly object_key: string;
  readonly content_type: string;
}

/** Tensors of the run's spans, and files stored under any of its names. */
export function filesQuery(database: string, workspace: string, groups: readonly string[], run: string): Query {
  const names = `SELECT {run:String} UNION ALL SELECT alias FROM ${database}.aliases FINAL
    WHERE workspace = {workspace:String} AND ${inGroups}`;
  const spans = ["spans", "snapshots"].map((table) => `SELECT span_id FROM ${database}.${table} WHERE ${inGroups}`);
  return {
    sql: `SELECT span_id, kind, object_key, content_type FROM ${database}.blobs FINAL
      WHERE workspace = {workspace:String} AND deleted = 0
        AND if(startsWith(kind, 'artifact:'), span_id IN (${names}), span_id IN (${spans.join(" UNION ALL ")}))
      ORDER BY span_id, kind`,
    params: { workspace, groups: [...groups], run },
  };
}

/** Every launch of a workspace, as groups. */
export function allLaunchGroupsQuery(database: string, workspace: string): Query {
  return {
    sql: `SELECT group_key AS launch_key FROM ${database}.groups FINAL
      WHERE workspace = {workspace:String} AND protocol = 'launch' AND deleted_ns = 0 ORDER BY launch_key`,
    params: { workspace },
  };
}

/** The launches that these groups' runs belong to, as groups. */
export function launchGroupsQuery(database: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT DISTINCT toString(launch_key) AS launch_key FROM ${database}.lifecycle
      WHERE ${inGroups} AND launch_key != '' ORDER BY launch_key`,
    params: { groups: [...groups] },
  };
}
