// What an export of a run needs beside its records: the batches and files they belong to, and its history.

import { type Store, takenAway, withOptions } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, type RowOf, readColumn, readRows, streamRows, text, word } from "./native-rows.ts";
import { journalPlaceSql, placeOrder } from "./record-place.ts";

/** A Cirron batch as it is known by its id. */
const batchRow = {
  batch_id: text,
  group_key: text,
  source: text,
  run_override: text,
  received_ns: decimal,
  sdk_version: text,
  created_ns: decimal,
  extra: text,
};
export type BatchRow = RowOf<typeof batchRow>;

export function readBatches(store: Store, groups: readonly string[]): Promise<BatchRow[]> {
  return readRows(store, batchRow, {
    sql: `SELECT b.batch_id AS batch_id, argMin(b.group_key, b.received_ns) AS group_key,
        argMin(b.source, b.received_ns) AS source, argMin(b.run_override, b.received_ns) AS run_override,
        min(b.received_ns) AS received_ns, any(b.sdk_version) AS sdk_version, any(b.created_ns) AS created_ns,
        any(b.extra) AS extra
      FROM (SELECT * FROM ${store.database}.cirron_batches FINAL WHERE ${inGroups}) AS b
      GROUP BY b.batch_id ORDER BY received_ns, batch_id`,
    params: { groups },
  });
}

/** A journal record that holds rows of Cirron batches. */
const batchRecord = { place: text, group_key: text, received_ns: decimal };
export type BatchRecord = RowOf<typeof batchRecord>;

export function readBatchRecords(store: Store, groups: readonly string[]): Promise<BatchRecord[]> {
  const of = (table: string): string =>
    `SELECT collector, jpos, group_key, received_ns FROM ${store.database}.${table} WHERE ${inGroups}`;
  return readRows(store, batchRecord, {
    sql: `SELECT DISTINCT ${journalPlaceSql} AS place, toString(group_key) AS group_key, received_ns
      FROM (${["spans", "marks", "snapshots"].map(of).join(" UNION ALL ")}) ORDER BY received_ns, place`,
    params: { groups },
  });
}

const keptFault = {
  id: text,
  group_key: text,
  code: text,
  protocol: text,
  transport: text,
  detail: text,
  place: text,
  raw_base64: text,
};

/** What of these groups could not be understood, the first found first. */
export function streamKeptFaults(store: Store, groups: readonly string[], rawBytesMax: number) {
  const query = {
    sql: `SELECT fault_id AS id, toString(group_key) AS group_key, toString(code) AS code, toString(protocol) AS protocol,
        toString(transport) AS transport, detail, place, base64Encode(substring(raw, 1, ${rawBytesMax})) AS raw_base64
      FROM ${store.database}.faults FINAL WHERE ${inGroups} ORDER BY ${placeOrder}`,
    params: { groups },
  };
  return streamRows(withOptions(store, takenAway), keptFault, query);
}

const commandStep = {
  id: text,
  worker: text,
  type: text,
  payload: text,
  state: text,
  reason: text,
  by: text,
  at_ns: decimal,
  expires_ns: decimal,
};

/** Every step of the commands that these runs were sent. */
export function readCommandSteps(store: Store, workspace: string, runs: readonly string[]) {
  return readRows(store, commandStep, {
    sql: `SELECT cmd_id AS id, worker, toString(type) AS type, payload, toString(state) AS state, reason, author AS by,
        at_ns, expires_ns
      FROM ${store.database}.commands FINAL WHERE workspace = {workspace:String} AND run_id IN {runs:Array(String)}
      ORDER BY at_ns, cmd_id, worker, state`,
    params: { workspace, runs },
  });
}

/** Tensors of the run's spans, and files stored under any of its names. */
export function readFilesOfRun(
  store: Store,
  { workspace, groups, run }: { readonly workspace: string; readonly groups: readonly string[]; readonly run: string },
) {
  const { database } = store;
  const names = `SELECT {run:String} UNION ALL SELECT alias FROM ${database}.aliases FINAL
    WHERE workspace = {workspace:String} AND ${inGroups}`;
  const spans = ["spans", "snapshots"].map((table) => `SELECT span_id FROM ${database}.${table} WHERE ${inGroups}`);
  return readRows(
    store,
    { span_id: text, kind: text, object_key: text },
    {
      sql: `SELECT span_id, kind, object_key FROM ${database}.blobs FINAL
      WHERE workspace = {workspace:String} AND deleted = 0
        AND if(startsWith(kind, 'artifact:'), span_id IN (${names}), span_id IN (${spans.join(" UNION ALL ")}))
      ORDER BY span_id, kind`,
      params: { workspace, groups, run },
    },
  );
}

/** Every launch of a workspace, as groups. */
export function readLaunchGroups(store: Store, workspace: string): Promise<string[]> {
  return readColumn(store, text, {
    sql: `SELECT group_key FROM ${store.database}.groups FINAL
      WHERE workspace = {workspace:String} AND protocol = 'launch' AND deleted_ns = 0 ORDER BY group_key`,
    params: { workspace },
  });
}

/** The launches that these groups' runs belong to, as groups. */
export function readLaunchesOf(store: Store, groups: readonly string[]) {
  return readRows(
    store,
    { group_key: text, launch_key: text },
    {
      sql: `SELECT DISTINCT toString(group_key) AS group_key, toString(launch_key) AS launch_key
      FROM ${store.database}.lifecycle WHERE ${inGroups} AND launch_key != '' ORDER BY launch_key, group_key`,
      params: { groups },
    },
  );
}

/** What a run may have besides its records. Most runs have none of it. */
export type Beside = "faults" | "files" | "commands";

/** What there is besides the records, under a group's key or the name of a run. */
export function readBeside(
  store: Store,
  { workspace, groups, runs }: Readonly<{ workspace: string; groups: readonly string[]; runs: readonly string[] }>,
) {
  const { database } = store;
  const ofWorkspace = "workspace = {workspace:String}";
  const stored = (kind: string): string =>
    `SELECT span_id FROM ${database}.blobs FINAL WHERE ${ofWorkspace} AND deleted = 0 AND ${kind}`;
  const [artifacts, tensors] = ["startsWith(kind, 'artifact:')", "NOT startsWith(kind, 'artifact:')"].map(stored);
  const some = (what: Beside, name: string, from: string): string =>
    `SELECT DISTINCT '${what}' AS what, toString(${name}) AS name FROM ${from}`;
  return readRows(
    store,
    { what: word<Beside>(), name: text },
    {
      sql: [
        some("faults", "group_key", `${database}.faults WHERE ${inGroups}`),
        some("files", "group_key", `${database}.spans WHERE ${inGroups} AND span_id IN (${tensors})`),
        some("files", "group_key", `${database}.snapshots WHERE ${inGroups} AND span_id IN (${tensors})`),
        some("files", "span_id", `(${artifacts}) WHERE span_id IN {runs:Array(String)}`),
        some(
          "files",
          "group_key",
          `${database}.aliases FINAL WHERE ${ofWorkspace} AND ${inGroups} AND alias IN (${artifacts})`,
        ),
        some("commands", "run_id", `${database}.commands WHERE ${ofWorkspace} AND run_id IN {runs:Array(String)}`),
      ].join(" UNION ALL "),
      params: { workspace, groups, runs },
    },
  );
}
