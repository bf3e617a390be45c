// The runs that people joined to others, as rows.

import type { Store } from "#store/store.ts";
import { readStateRows } from "./state-rows.ts";

/** All that hold, those of one workspace, or only those that lead to these runs. */
export function readJoins(store: Store, only?: { readonly workspace: string; readonly runs?: readonly string[] }) {
  const inWorkspace = only === undefined ? "" : "AND workspace = {workspace:String}";
  const mine = only?.runs === undefined ? inWorkspace : `${inWorkspace} AND into_run IN {runs:Array(String)}`;
  return readStateRows(store, "joins", `WHERE parted = 0 ${mine} ORDER BY run_id`, { ...only });
}
