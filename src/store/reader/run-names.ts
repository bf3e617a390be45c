// What runs are called, and the groups of rows that belong to them today.

import { joinedGroups } from "#store/joined-groups.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, int, nullable, type RowOf, readColumn, readRows, text } from "./native-rows.ts";

/** A group of rows and the run it belongs to; `ownRun` is the run that its records name, before any join. */
const runGroup = { groupKey: text, run: text, ownRun: text, protocol: text, rank: int };
export type RunGroup = RowOf<typeof runGroup>;

/** `last` is when the run last began something. */
const namedRun = { alias: text, runId: text, last: nullable(big) };
export type NamedRun = RowOf<typeof namedRun>;

/** What an id or alias leads to, with what it is called today. */
export function readNamedRuns(store: Store, workspace: string, ids: readonly string[]): Promise<NamedRun[]> {
  const { database } = store;
  return readRows(store, namedRun, {
    sql: `SELECT a.alias AS alias, g.run_id AS runId, t.last AS last
      FROM (SELECT alias, group_key FROM ${database}.aliases FINAL
          WHERE workspace = {workspace:String} AND alias IN {ids:Array(String)}
        UNION DISTINCT SELECT run_id AS alias, group_key FROM ${joinedGroups(database)}
          WHERE workspace = {workspace:String} AND run_id IN {ids:Array(String)}) AS a
      INNER JOIN (SELECT group_key, run_id FROM ${joinedGroups(database)}
        WHERE workspace = {workspace:String} AND protocol != 'launch' AND deleted_ns = 0) AS g ON g.group_key = a.group_key
      LEFT JOIN (SELECT toString(group_key) AS group_key, max(min_ns) AS last FROM ${database}.group_times
        GROUP BY group_key) AS t ON t.group_key = g.group_key`,
    params: { workspace, ids },
  });
}

export function readGroupsOfRuns(store: Store, workspace: string, runs: readonly string[]): Promise<RunGroup[]> {
  return readRows(store, runGroup, {
    sql: `${groupsWhere(store, "run_id IN {runs:Array(String)}")} ORDER BY group_key`,
    params: { workspace, runs },
  });
}

/** The runs that these groups belong to; a group of none is left out. */
export function readRunsOfGroups(store: Store, workspace: string, groups: readonly string[]): Promise<RunGroup[]> {
  return readRows(store, runGroup, {
    sql: groupsWhere(store, "group_key IN {groups:Array(String)}"),
    params: { workspace, groups },
  });
}

/** Every group of the runs with these ids, and those groups that one of the ids was ever an alias of. */
export function readNamedGroups(store: Store, workspace: string, ids: readonly string[]): Promise<RunGroup[]> {
  const named = `SELECT group_key FROM ${store.database}.aliases
    WHERE workspace = {workspace:String} AND alias IN {ids:Array(String)}`;
  return readRows(store, runGroup, {
    sql: `${groupsWhere(store, `(run_id IN {ids:Array(String)} OR group_key IN (${named}))`)} ORDER BY group_key`,
    params: { workspace, ids },
  });
}

function groupsWhere({ database }: Store, condition: string): string {
  return `SELECT group_key AS groupKey, run_id AS run, own_run AS ownRun, protocol, rank FROM ${joinedGroups(database)}
      WHERE workspace = {workspace:String} AND ${condition} AND protocol != 'launch' AND deleted_ns = 0`;
}

/** Every id that a run of these groups was ever known by. */
export function readAliases(store: Store, workspace: string, groups: readonly string[]): Promise<string[]> {
  return readColumn(store, text, {
    sql: `SELECT DISTINCT alias FROM ${store.database}.aliases
      WHERE workspace = {workspace:String} AND ${inGroups} ORDER BY alias LIMIT 1000`,
    params: { workspace, groups },
  });
}
