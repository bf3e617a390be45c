// What the questions about Semantiva pipelines share. Over many runs the store aggregates and gives a few narrow facts a
// run or a launch; what they mean is decided by `query/semantiva`, once, for one run and for 100,000.
//
// Only idempotent aggregates are used (min, max, argMax, distinct counts): a row may stand in the store twice until its
// parts are merged. "Last" is the greatest (written time, arrival), the order of `query/semantiva/stored.ts`.

import { joinsSql } from "#store/joined-groups.ts";
import { ownIdSql } from "./group-scope.ts";
import { placeOrder } from "./record-place.ts";

/**
 * What groups are called today where that is not their own id, which stands in the key; and up to which arrival their
 * rows are deleted. Both are rare, so most runs have no row here and nothing has to be joined.
 */
export function namesSql(database: string): string {
  const isNamed = `protocol = 'semantiva' AND (run_id != ${ownIdSql("group_key")}
    OR (workspace, run_id) IN (SELECT of_workspace, of_run FROM (${joinsSql(database)})))`;
  return `SELECT group_key, if(into_run = '', own_name, into_run) AS name, deleted
    FROM (SELECT group_key, toString(any(workspace)) AS own_workspace, argMaxIf(run_id, version, ${isNamed}) AS own_name,
        max(deleted_ns) AS deleted
      FROM ${database}.groups WHERE deleted_ns != 0 OR (${isNamed}) GROUP BY group_key) AS n
    LEFT JOIN (${joinsSql(database)}) AS j ON j.of_workspace = n.own_workspace AND j.of_run = n.own_name`;
}

export const lastLine = `(timestamp, ${placeOrder})`;
export const nodeTime = "if(ifNull(timestamp, '') = '', started_at, assumeNotNull(timestamp))";

export const terminal = "('succeeded', 'error', 'skipped', 'cancelled')";

/** The last status of the nodes of some groups, and only of groups with a record where `some` holds, which is rare. */
export function lastStatusSql(database: string, scoped: string, some: string): string {
  return `SELECT group_key, node_id, argMax(toString(status), (${nodeTime}, finished_at, ${placeOrder})) AS last
    FROM ${database}.nodes WHERE group_key IN (SELECT group_key FROM ${database}.nodes WHERE ${some} AND ${scoped})
    GROUP BY group_key, node_id`;
}

/** How many nodes of these groups ended in an error; groups without any are left out. `groups` is a subquery. */
export function failedNodesSql(database: string, groups: string): string {
  return `SELECT group_key, toUInt32(countIf(last = 'error')) AS nodes
    FROM (${lastStatusSql(database, `group_key IN (${groups})`, "status = 'error'")}) GROUP BY group_key`;
}
