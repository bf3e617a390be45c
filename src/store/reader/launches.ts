// Launches as their own lines describe them, and their runs counted by how they ended.

import { groupKinds, groupPrefix } from "#model/group-key.ts";
import type { Store } from "#store/store.ts";
import { countOutcomes, type OutcomeCount, readMembers, readRunCounts } from "./members.ts";
import {
  count,
  flag,
  int,
  list,
  nullable,
  type RowOf,
  readMap,
  readRow,
  readRows,
  senderNs,
  serverNs,
  text,
} from "./native-rows.ts";
import { placeOrder } from "./record-place.ts";
import { lastLine } from "./semantiva.ts";

const launchRow = {
  launch_key: text,
  launch_id: text,
  attempt: nullable(count),
  has_start: flag,
  has_end: flag,
  outcome: text,
  /** `run_space_planned_run_count` and `run_space_total_runs` of the start line. */
  planned_runs: nullable(count),
  total_runs: nullable(count),
  /** 0 when not known. */
  start_ns: senderNs,
  end_ns: senderNs,
  last_received_ns: serverNs,
  /** Distinct indexes among its runs. */
  indexes: int,
};
type LaunchRow = RowOf<typeof launchRow>;

export interface LaunchHead extends Omit<LaunchRow, "attempt"> {
  readonly attempt: number;
  readonly runs: readonly OutcomeCount[];
}

export interface LaunchPage {
  readonly workspace: string;
  readonly limit: number;
  /** The start and key of the last launch of the page before. */
  readonly after: { readonly startNs: bigint; readonly launchKey: string } | null;
}

/** A page of launches, the latest first. */
export async function readLaunches(store: Store, { workspace, limit, after }: LaunchPage): Promise<LaunchHead[]> {
  const behind = after === null ? "" : "WHERE (start_ns, launch_key) < ({after_ns:Int64}, {after_key:String})";
  const query = {
    sql: `${launchesSql(store.database, "startsWith(launch_key, {prefix:String})")} ${behind}
      ORDER BY start_ns DESC, launch_key DESC LIMIT {limit:UInt32}`,
    params: {
      prefix: groupPrefix(workspace, groupKinds.semantivaLaunch),
      limit,
      ...(after === null ? {} : { after_ns: after.startNs, after_key: after.launchKey }),
    },
  };
  const rows = await readRows(store, launchRow, query);
  if (rows.length === 0) return [];
  const keys = rows.map(({ launch_key }) => launch_key);
  const countsOf = await readRunCounts(store, keys);
  return rows.map((row) => toHead(row, countsOf.get(row.launch_key) ?? []));
}

/** A launch with its members in order: by index, then by start; null when there is none. */
export async function readLaunch(store: Store, launchKey: string) {
  const sql = launchesSql(store.database, "launch_key = {launch:String}");
  const [row, members] = await Promise.all([
    readRow(store, launchRow, { sql, params: { launch: launchKey } }),
    readMembers(store, launchKey),
  ]);
  return row === null ? null : { head: toHead(row, countOutcomes(members)), members };
}

function toHead(row: LaunchRow, runs: readonly OutcomeCount[]): LaunchHead {
  return { ...row, attempt: row.attempt ?? 0, runs };
}

function launchesSql(database: string, scope: string): string {
  return `SELECT * FROM (
    SELECT toString(launch_key) AS launch_key, any(toString(launch_id)) AS launch_id, any(attempt) AS attempt,
      max(type = 'run_space_start') AS has_start, max(type = 'run_space_end') AS has_end,
      argMaxIf(toString(outcome), ${lastLine}, type = 'run_space_end') AS outcome,
      argMaxIf(planned_runs, ${lastLine}, type = 'run_space_start') AS planned_runs,
      argMaxIf(total_runs, ${lastLine}, type = 'run_space_start') AS total_runs,
      minIf(ts_ns, ts_ns != 0) AS start_ns, max(ts_ns) AS end_ns, max(received_ns) AS last_received_ns,
      toUInt32(uniqExactIf(run_index, type = 'pipeline_start')) AS indexes
    FROM ${database}.lifecycle WHERE launch_key != '' AND ${scope} GROUP BY launch_key)`;
}

/** Stored start lines by launch key, the last when there are several. */
export function readLaunchStarts(store: Store, launches: readonly string[]): Promise<Map<string, string>> {
  return readMap(store, text, text, {
    sql: `SELECT toString(group_key) AS launch_key, argMax(payload, (ts_ns, ${placeOrder})) AS line
      FROM ${store.database}.events WHERE group_key IN {launches:Array(String)} AND type = 'run_space_start'
      GROUP BY group_key`,
    params: { launches },
  });
}

/** The attempts that are known of a launch, by its id, ascending. */
export function readAttempts(store: Store, workspace: string, ids: readonly string[]): Promise<Map<string, number[]>> {
  return readMap(store, text, list(count), {
    sql: `SELECT toString(launch_id) AS launch_id, arraySort(groupUniqArray(assumeNotNull(attempt))) AS attempts
      FROM ${store.database}.lifecycle
      WHERE launch_key != '' AND startsWith(launch_key, {prefix:String}) AND launch_id IN {ids:Array(String)}
        AND attempt IS NOT NULL GROUP BY launch_id`,
    params: { prefix: groupPrefix(workspace, groupKinds.semantivaLaunch), ids },
  });
}
