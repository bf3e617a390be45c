// The runs that people joined to others, as rows.

import type { Store } from "#store/store.ts";
import { readStateRows } from "./state-rows.ts";

/** All that hold, or those of one workspace that lead to these runs. */
export function readJoins(store: Store, only?: { readonly workspace: string; readonly runs: readonly string[] }) {
  const mine = only === undefined ? "" : "AND workspace = {workspace:String} AND into_run IN {runs:Array(String)}";
  return readStateRows(store, "joins", `WHERE parted = 0 ${mine} ORDER BY run_id`, { ...only });
}
