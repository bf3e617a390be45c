// Removes what a plan put into the embedded engine for the second time. The engine recognises a block that it has by its
// token, but does not sync what it knows tokens by: after a loss of power it may have a block and take it again.

import { count, readRows, readValue, text } from "./reader/native-rows.ts";
import { factLayouts, type TableLayout } from "./schema/table-layout.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";
import type { Plan, PlannedBlock } from "./writer/plan.ts";
import { groupsOf } from "./writers.ts";

/** A merge meanwhile gives parts other names, and may have removed copies itself. */
const triesMax = 5;

/** To be called when all blocks of a plan that was left open have been sent, before anything is told of its rows. */
export async function removeSecondCopies(store: Store, plan: Plan): Promise<void> {
  if (store.kind !== "embedded") return;
  const removals = layouts.map(async (layout) => {
    const blocks = plan.blocks.filter(({ table }) => table === layout.name);
    if (blocks.length > 0) await removeFrom(store, layout, scopeOf(plan, blocks));
  });
  // A retry begins when none of them is under way any more.
  for (const outcome of await Promise.allSettled(removals)) if (outcome.status === "rejected") throw outcome.reason;
}

/** An id that stands in `cirron_ids` twice says the same. */
const layouts = factLayouts.filter(({ columns }) => "jpos" in columns);

/** Rows of the plan, and only they: the groups are what the table is sorted by. */
function scopeOf({ from, to }: Plan, blocks: readonly PlannedBlock[]): string {
  const groups = [...new Set(blocks.flatMap(groupsOf))].map(quote);
  return `group_key IN (${groups.join(", ")}) AND jpos BETWEEN ${from} AND ${to}`;
}

const partRows = { part: text, rows: count };

async function removeFrom(store: Store, layout: TableLayout, scope: string): Promise<void> {
  const table = `${store.database}.${layout.name}`;
  for (let tries = 0; tries < triesMax; tries++) {
    const sql = `SELECT toString(_part) AS part, count() AS rows FROM ${table} WHERE ${scope} GROUP BY part
      ORDER BY toInt64(splitByChar('_', part)[2]) DESC`;
    const parts = await readRows(store, partRows, { sql });
    const second = await findSecond(store, layout, scope, parts);
    if (second === null) return;
    await store.ddl(`DELETE FROM ${table} WHERE ${scope} AND _part = ${quote(second)}`);
  }
}

/** The newest part whose rows are all in older ones too, as a merge would find; null when there is none. */
async function findSecond(
  store: Store,
  { name, orderBy }: TableLayout,
  scope: string,
  parts: readonly { readonly part: string; readonly rows: number }[],
): Promise<string | null> {
  const table = `${store.database}.${name}`;
  const key = `(${orderBy.join(", ")})`;
  for (const [at, { part, rows }] of parts.slice(0, -1).entries()) {
    const older = parts.slice(at + 1).map((other) => quote(other.part));
    const sql = `SELECT count() FROM ${table} WHERE ${scope} AND _part = ${quote(part)} AND ${key} IN
      (SELECT ${key} FROM ${table} WHERE ${scope} AND _part IN (${older.join(", ")}))`;
    if ((await readValue(store, count, { sql })) === rows) return part;
  }
  return null;
}
