// What one run's page shows beside its head: texts it was started and ended with, and how many rows it has.

import type { Query } from "#store/store.ts";

/** In the order of the client's clock. */
export function payloadsQuery(database: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT group_key, type, worker, ts_ns, payload FROM (
        SELECT group_key, toString(type) AS type, toString(worker) AS worker, ts_ns, payload FROM ${database}.events
          WHERE group_key IN {groups:Array(String)}
            AND type IN ('run_start', 'run_end', 'pipeline_start', 'pipeline_end', 'wrapper_start', 'wrapper_exit')
        UNION ALL SELECT group_key, 'cirron.session', '', start_ns, attrs FROM ${database}.spans
          WHERE group_key IN {groups:Array(String)} AND name = 'cirron.session')
      ORDER BY ts_ns LIMIT 1000`,
    params: { groups: [...groups] },
  };
}

const counted = ["spans", "marks", "snapshots", "nodes", "logs"] as const;

export function countsQuery(database: string, groups: readonly string[]): Query {
  const tables = counted.map(
    (table) =>
      `SELECT '${table}' AS kind, toUInt32(count()) AS count FROM ${database}.${table} WHERE group_key IN {groups:Array(String)}`,
  );
  const events = `SELECT toString(type) AS kind, toUInt32(count()) AS count FROM ${database}.events
      WHERE group_key IN {groups:Array(String)} GROUP BY type`;
  const all = `SELECT 'events' AS kind, toUInt32(count()) AS count FROM ${database}.events WHERE group_key IN {groups:Array(String)}`;
  return {
    sql: [...tables, events, all].join(" UNION ALL "),
    params: { groups: [...groups] },
  };
}

/** Names of params and metrics with how many runs have them, for choosing columns and completing filters. */
export function fieldsQuery(database: string, workspace: string, text: string): Query {
  const mine = "startsWith(toString(group_key), {prefix:String})";
  const like = (column: string) =>
    text === "" ? "" : `AND positionCaseInsensitiveUTF8(toString(${column}), {text:String}) > 0`;
  return {
    sql: `SELECT 'param' AS kind, toString(name) AS name, '' AS phase, toUInt32(uniq(group_key)) AS runs,
        toUInt32(uniqIf(group_key, isNotNull(value_num))) AS numeric, groupUniqArray(8)(value) AS examples
      FROM ${database}.params WHERE ${mine} ${like("name")} GROUP BY name
      UNION ALL SELECT 'metric' AS kind, toString(key) AS name, toString(phase) AS phase,
        toUInt32(uniq(group_key)) AS runs, toUInt32(uniq(group_key)) AS numeric, CAST([], 'Array(String)') AS examples
      FROM ${database}.metric_summary WHERE ${mine} ${like("key")} GROUP BY key, phase
      ORDER BY runs DESC, kind, name, phase LIMIT 2000`,
    params: { prefix: `${workspace}/`, text },
  };
}

export function aliasesQuery(database: string, workspace: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT DISTINCT alias FROM ${database}.aliases
      WHERE workspace = {workspace:String} AND group_key IN {groups:Array(String)} ORDER BY alias LIMIT 1000`,
    params: { workspace, groups: [...groups] },
  };
}
