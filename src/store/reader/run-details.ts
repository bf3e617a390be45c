// What one run's page shows beside its head: texts it was started and ended with, and how many rows it has; and the
// names that all runs of a workspace have.

import { groupPrefix } from "#model/group-key.ts";
import type { Store } from "#store/store.ts";
import { cutJson } from "./cut-text.ts";
import { decimal, int, list, type RowOf, readRows, text, word } from "./native-rows.ts";

/** run_start, run_end, pipeline_start, session spans and their like, with their JSON. */
const payloadRow = { group_key: text, type: text, worker: text, ts_ns: decimal, payload: text };
export type PayloadRow = RowOf<typeof payloadRow>;

/** In the order of the client's clock. */
export function readRunPayloads(store: Store, groups: readonly string[]): Promise<PayloadRow[]> {
  const { database } = store;
  return readRows(store, payloadRow, {
    sql: `SELECT group_key, type, worker, ts_ns, payload FROM (
        SELECT group_key, toString(type) AS type, toString(worker) AS worker, ts_ns, payload FROM ${database}.events
          WHERE group_key IN {groups:Array(String)}
            AND type IN ('run_start', 'run_end', 'pipeline_start', 'pipeline_end', 'wrapper_start', 'wrapper_exit')
        UNION ALL SELECT group_key, 'cirron.session', '', start_ns, attrs FROM ${database}.spans
          WHERE group_key IN {groups:Array(String)} AND name = 'cirron.session')
      ORDER BY ts_ns LIMIT 1000`,
    params: { groups },
  });
}

const counted = ["spans", "marks", "snapshots", "nodes", "logs"] as const;

/** Rows by table, and events by type. */
export async function readCounts(store: Store, groups: readonly string[]): Promise<Record<string, number>> {
  const mine = "WHERE group_key IN {groups:Array(String)}";
  const countOf = (kind: string, table: string) =>
    `SELECT '${kind}' AS kind, toUInt32(count()) AS count FROM ${store.database}.${table} ${mine}`;
  const byType = `SELECT toString(type) AS kind, toUInt32(count()) AS count FROM ${store.database}.events ${mine} GROUP BY type`;
  const rows = await readRows(
    store,
    { kind: text, count: int },
    {
      sql: [...counted.map((table) => countOf(table, table)), byType, countOf("events", "events")].join(" UNION ALL "),
      params: { groups },
    },
  );
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
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
  const mine = "startsWith(toString(group_key), {prefix:String})";
  const like = (column: string) =>
    part === "" ? "" : `AND positionCaseInsensitiveUTF8(toString(${column}), {part:String}) > 0`;
  return readRows(store, fieldRow, {
    sql: `SELECT 'param' AS kind, toString(name) AS name, '' AS phase, toUInt32(uniq(group_key)) AS runs,
        toUInt32(uniqIf(group_key, isNotNull(value_num))) AS numeric, groupUniqArray(8)(${cutJson("value", 256)}) AS examples
      FROM ${store.database}.params WHERE ${mine} ${like("name")} GROUP BY name
      UNION ALL SELECT 'metric' AS kind, toString(key) AS name, toString(phase) AS phase,
        toUInt32(uniq(group_key)) AS runs, toUInt32(uniq(group_key)) AS numeric, CAST([], 'Array(String)') AS examples
      FROM ${store.database}.metric_summary WHERE ${mine} ${like("key")} GROUP BY key, phase
      ORDER BY runs DESC, kind, name, phase LIMIT 2000`,
    params: { prefix: groupPrefix(workspace), part },
  });
}
