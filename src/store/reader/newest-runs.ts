// The runs that began last, found without reading what is known of the others.

import { joinedGroups } from "#store/joined-groups.ts";
import type { Store } from "#store/store.ts";
import { inScope, scopeParams } from "./group-scope.ts";
import { int, list, type RowOf, readRows, text } from "./native-rows.ts";

/** A run with its groups; `total` is how many runs there are. */
const newestRun = { runId: text, groups: list(text), total: int };
export type NewestRun = RowOf<typeof newestRun>;

export type ArchivedRuns = "hide" | "show" | "only";

/** In the order of the table of runs when nobody asks for another: by start, the newest first, then by id. */
export function readNewestRuns(
  store: Store,
  workspace: string,
  archived: ArchivedRuns,
  limit: number,
): Promise<NewestRun[]> {
  const { database } = store;
  const mine = inScope("group_key", { workspace });
  const firstOf = (table: string) =>
    `SELECT toString(group_key) AS of_group, min(min_ns) AS first_ns FROM ${database}.${table} WHERE ${mine} GROUP BY group_key`;
  const isArchived = `run_id ${archived === "hide" ? "NOT IN" : "IN"} (SELECT run_id FROM ${database}.run_edits FINAL
      WHERE workspace = {workspace:String} AND archived = 1)`;
  return readRows(store, newestRun, {
    sql: `SELECT run_id AS runId, groupArray(g.group_key) AS groups, toUInt32(count() OVER ()) AS total
      FROM (SELECT group_key, run_id FROM ${joinedGroups(database)}
        WHERE ${mine} AND deleted_ns = 0 AND protocol != 'launch' ${archived === "show" ? "" : `AND ${isArchived}`}) AS g
      LEFT JOIN (SELECT of_group, nullIf(min(first_ns), 0) AS first_ns
        FROM (${firstOf("group_times")} UNION ALL ${firstOf("metric_summary")}) GROUP BY of_group) AS t
        ON t.of_group = g.group_key
      GROUP BY run_id ORDER BY toFloat64(min(t.first_ns)) DESC NULLS LAST, run_id LIMIT {limit:UInt32}`,
    params: { ...scopeParams({ workspace }), workspace, limit },
  });
}
