// The runs that people joined to others, as rows.

import type { StateRow } from "#model/state-tables.ts";
import type { Store } from "#store/store.ts";
import { big, int, readRows, text } from "./native-rows.ts";

const joinRow = { workspace: text, run_id: text, into_run: text, parted: int, author: text, version: big };

/** All that hold, or those of one workspace that lead to these runs. */
export function readJoins(
  store: Store,
  only?: { readonly workspace: string; readonly runs: readonly string[] },
): Promise<StateRow<"joins">[]> {
  const mine = only === undefined ? "" : "AND workspace = {workspace:String} AND into_run IN {runs:Array(String)}";
  return readRows(store, joinRow, {
    sql: `SELECT toString(workspace) AS workspace, run_id, into_run, toInt32(parted) AS parted, author, version
      FROM ${store.database}.joins FINAL WHERE parted = 0 ${mine} ORDER BY run_id`,
    params: { ...only },
  });
}
