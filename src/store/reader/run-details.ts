// What the page of a run shows beside its head: what its session said and how many rows it has; and the names in use
// among all runs of a workspace.

import { groupPrefix } from "#model/group-key.ts";
import { joinedGroups } from "#store/joined-groups.ts";
import type { Store } from "#store/store.ts";
import { cutJson, smallMembers } from "./cut-text.ts";
import { inGroups } from "./group-scope.ts";
import { int, list, type RowOf, readMap, readRows, readValue, text, word } from "./native-rows.ts";

/** The attributes of the first session span of these groups, as JSON text; '' when none came. */
export async function readSessionText(store: Store, groups: readonly string[]): Promise<string> {
  const sql = `SELECT ${smallMembers("s.attrs")} FROM ${store.database}.spans AS s
    WHERE ${inGroups} AND name = 'cirron.session' ORDER BY start_ns, span_id LIMIT 1`;
  return (await readValue(store, text, { sql, params: { groups } })) ?? "";
}

const counted = ["spans", "marks", "snapshots", "nodes", "logs"] as const;

/** Rows by table, and events by type. */
export async function readCounts(store: Store, groups: readonly string[]): Promise<Record<string, number>> {
  const mine = `WHERE ${inGroups}`;
  const countOf = (kind: string, table: string) =>
    `SELECT '${kind}' AS kind, toUInt32(count()) AS count FROM ${store.database}.${table} ${mine}`;
  const byType = `SELECT toString(type) AS kind, toUInt32(count()) AS count FROM ${store.database}.events ${mine} GROUP BY type`;
  const each = [...counted.map((table) => countOf(table, table)), byType, countOf("events", "events")];
  return Object.fromEntries(await readMap(store, text, int, { sql: each.join(" UNION ALL "), params: { groups } }));
}

const fieldRow = {
  kind: word<"param" | "metric">(),
  name: text,
  phase: text,
  runs: int,
  numeric: int,
  examples: list(text),
};
export type FieldRow = RowOf<typeof fieldRow>;

/** Names of params and metrics with how many runs have them, for choosing columns and completing filters. */
export function readFields(store: Store, workspace: string, part: string): Promise<FieldRow[]> {
  const { database } = store;
  const mine = "startsWith(toString(group_key), {prefix:String})";
  const like = (column: string) =>
    part === "" ? "" : `AND positionCaseInsensitiveUTF8(toString(${column}), {part:String}) > 0`;
  const groups = `SELECT group_key, run_id FROM ${joinedGroups(database)}
      WHERE ${mine} AND deleted_ns = 0 AND protocol != 'launch'`;
  return readRows(store, fieldRow, {
    sql: `WITH (SELECT groupArray((group_key, run_id)) FROM (${groups})) AS known,
        transform(group_key, known.1, known.2, '') AS run
      SELECT * FROM (
        SELECT 'param' AS kind, toString(name) AS name, '' AS phase, toUInt32(uniq(run)) AS runs,
          toUInt32(uniqIf(run, isNotNull(value_num))) AS numeric,
          arraySort(groupUniqArray(8)(${cutJson("value", 256)})) AS examples
        FROM ${database}.params WHERE ${mine} AND run != '' ${like("name")} GROUP BY name
        UNION ALL SELECT 'metric' AS kind, toString(key) AS name, toString(phase) AS phase,
          toUInt32(uniq(run)) AS runs, toUInt32(uniq(run)) AS numeric, CAST([], 'Array(String)') AS examples
        FROM ${database}.metric_summary WHERE ${mine} AND run != '' ${like("key")} GROUP BY key, phase)
      ORDER BY runs DESC, kind, name, phase LIMIT 2000`,
    params: { prefix: groupPrefix(workspace), part },
  });
}
