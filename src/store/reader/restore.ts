// What intake reads of stored groups: which rows, lines and batches they have, and the small tables.

import type { StateTable } from "#model/state-tables.ts";
import { type FactTable, factTables, hasPlace } from "#model/tables.ts";
import type { DecodedBlock } from "#store/native/decode-block.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, count, int, readColumn, readNativeBlocks, readRows, readValue, streamRows, text } from "./native-rows.ts";

/** What stands for an absent number in the blocks below. */
export const absentNumber: bigint = -(2n ** 63n);

/** The spans of groups as blocks, with only the names that grouping looks at. */
export function readStoredSpans(store: Store, groupKeys: readonly string[]): Promise<DecodedBlock[]> {
  return readBlocks(
    store,
    groupKeys,
    `SELECT group_key, span_id, toUInt8(isNull(s.parent_id)) AS no_parent, ifNull(s.parent_id, '') AS parent_id,
        toLowCardinality(if(s.name IN ('epoch', 'cirron.session'), toString(s.name), '')) AS name, start_ns, end_ns,
        ifNull(s.pid, toInt64(${absentNumber})) AS pid, ifNull(s.thread_id, toInt64(${absentNumber})) AS thread_id, rank,
        if(s.name = 'cirron.session', s.attrs, '') AS attrs, content_hash
      FROM ${store.database}.spans AS s`,
  );
}

/** What hangs on the spans of groups: marks or snapshots. */
export function readStoredLeaves(store: Store, kind: "mark" | "snapshot", groupKeys: readonly string[]) {
  const columns = `group_key, ${kind}_id AS id, span_id, ts_ns, content_hash`;
  return readBlocks(store, groupKeys, `SELECT ${columns} FROM ${store.database}.${kind}s`);
}

function readBlocks(store: Store, groups: readonly string[], select: string): Promise<DecodedBlock[]> {
  return readNativeBlocks(store, { sql: `${select} WHERE ${inGroups}`, params: { groups } });
}

/** What people and the server itself change, and the groups that a deletion hides. */
const versionedTables: readonly StateTable[] = [
  "groups",
  "run_edits",
  "joins",
  "keys",
  "commands",
  "settings",
  "saved_views",
  "firings",
  "deliveries",
];

/** Of the rows of the small tables that are changed later on. */
export async function readNewestVersion(store: Store, tables = versionedTables): Promise<bigint> {
  const each = tables.map((table) => `SELECT max(version) AS version FROM ${store.database}.${table}`);
  const sql = `SELECT max(version) FROM (${each.join(" UNION ALL ")})`;
  return (await readValue(store, big, { sql })) ?? 0n;
}

/** Where the rows of batches lie that came since, beyond what is known of each collector's journal. */
export function readBatchesBeyond(store: Store, sinceNs: bigint, known: ReadonlyMap<string, number>) {
  const collectors = [...known.keys()];
  return readRows(
    store,
    { batch_id: text, group_key: text },
    {
      sql: `SELECT DISTINCT batch_id, group_key FROM ${store.database}.batch_places
        WHERE version > {since:Int64}
          AND position > transform(collector, {collectors:Array(String)}, {positions:Array(Int64)}, toInt64(-1))`,
      params: { since: sinceNs, collectors, positions: collectors.map((name) => BigInt(known.get(name) ?? -1)) },
    },
  );
}

/** Groups that other collectors have written Cirron rows to since. */
export function readGroupsOfOthers(store: Store, sinceNs: bigint, collector: string): Promise<string[]> {
  const sql = `SELECT DISTINCT group_key FROM ${store.database}.batch_places
    WHERE version > {since:Int64} AND collector != {collector:String}`;
  return readColumn(store, text, { sql, params: { since: sinceNs, collector } });
}

/** Identities of the Semantiva lines of a run or a launch: 32 hex each. */
export function readLineIds(store: Store, groupKey: string) {
  const from = (table: string): string =>
    `SELECT event_id AS id FROM ${store.database}.${table} WHERE group_key = {group:String}`;
  const sql = `${from("events")} UNION ALL ${from("nodes")}`;
  return streamRows(store, { id: text }, { sql, params: { group: groupKey } });
}

/** Of these faults, those that are stored. Each is looked up by what the table is sorted by. */
export function readFaultIds(
  store: Store,
  workspace: string,
  faults: { readonly groups: readonly string[]; readonly codes: readonly string[]; readonly ids: readonly string[] },
): Promise<string[]> {
  const sql = `SELECT DISTINCT fault_id FROM ${store.database}.faults WHERE ${inGroups}
    AND code IN {codes:Array(String)} AND fault_id IN {ids:Array(String)} AND workspace = {workspace:String}`;
  return readColumn(store, text, { sql, params: { ...faults, workspace } });
}

/** What tells one OTLP record of a group from another, see intake/otlp/identity.ts; 0 where no content is hashed. */
export function readOtlpIds(store: Store, groupKey: string) {
  const from = (id: string, hash: string, table: string): string =>
    `SELECT ${id} AS id, ${hash} AS hash FROM ${store.database}.${table} WHERE group_key = {group:String}`;
  const none = "toUInt32(0)";
  // Whose params are there, see `Origin.id`.
  const origins = (table: string, column: string): string =>
    `SELECT lower(hex(substring(SHA256(toString(${column})), 1, 16))) AS id, ${none} AS hash
      FROM (SELECT DISTINCT ${column} FROM ${store.database}.${table} WHERE group_key = {group:String})`;
  return streamRows(
    store,
    { id: text, hash: int },
    {
      sql: `${from("concat(JSONExtractString(extra, 'trace_id'), span_id)", "content_hash", "spans")}
      UNION ALL ${from("toString(seq)", none, "logs")} UNION ALL ${from("event_id", none, "events")}
      UNION ALL ${origins("spans", "origin")} UNION ALL ${origins("logs", "origin")}
      UNION ALL SELECT DISTINCT JSONExtractString(extra, 'origin'), ${none} FROM ${store.database}.events
        WHERE group_key = {group:String}`,
      params: { group: groupKey },
    },
  );
}

/** Captured output and the wrapper's own records: what tells one line of a group from another. */
export function readCapturedLines(store: Store, groupKey: string) {
  const { database } = store;
  const own = "WHERE group_key = {group:String}";
  return streamRows(
    store,
    { stream: text, offset: count },
    {
      sql: `SELECT toString(stream) AS stream, offset FROM ${database}.logs ${own} AND stream != ''
      UNION ALL SELECT 'wrapper', seq FROM ${database}.events ${own}
      UNION ALL SELECT DISTINCT 'wrapper', seq FROM ${database}.metrics ${own} AND source = 'system'`,
      params: { group: groupKey },
    },
  );
}

/** Whether the store holds any group: a fresh one need not be asked for anything. */
export async function hasGroups(store: Store): Promise<boolean> {
  return (await readValue(store, int, { sql: `SELECT 1 FROM ${store.database}.groups LIMIT 1` })) !== null;
}

/** The keys of all groups but those of sessions, whose rows are told apart by their ids. */
export function readGroupKeys(store: Store) {
  const sql = `SELECT DISTINCT group_key FROM ${store.database}.groups WHERE NOT ${withTrait("protocol", "sessions")}`;
  return streamRows(store, { group_key: text }, { sql });
}

/** Keys of groups that have rows of journal records behind a position, which no other table need know yet. */
export function readGroupKeysAfter(store: Store, position: number) {
  const tables = (Object.keys(factTables) as FactTable[]).filter(hasPlace);
  const selects = tables.map(
    (table) => `SELECT group_key FROM ${store.database}.${table} WHERE jpos > {position:UInt64}`,
  );
  const sql = `SELECT DISTINCT group_key FROM (${selects.join(" UNION ALL ")})`;
  return streamRows(store, { group_key: text }, { sql, params: { position } });
}

/** `<workspace>/<run>` of all runs. */
export function readRunNames(store: Store) {
  const sql = `SELECT DISTINCT concat(workspace, '/', run_id) AS name FROM ${store.database}.groups`;
  return streamRows(store, { name: text }, { sql });
}
