// Joins that people made at the same moment, each without knowing of the other, may lead to a run that is joined to another
// itself, or back to where they began. Then every run goes to the end of its way, which of a circle is the run that was
// joined to last. Whoever sees the same joins corrects them in the same way.

import type { StateRow } from "#model/state-tables.ts";

type JoinRow = StateRow<"joins">;

/** What is to be stored about these joins of a workspace so that each leads to a run that is joined to no other. */
export function straightenJoins(rows: readonly JoinRow[]): JoinRow[] {
  const byRun = new Map(rows.map((row) => [row.run_id, row]));
  return rows.flatMap((row) => {
    const end = endOf(row, byRun);
    if (end === row.into_run) return [];
    const version = row.version + 1n;
    return [end === row.run_id ? { ...row, parted: 1, version } : { ...row, into_run: end, version }];
  });
}

function endOf(row: JoinRow, byRun: ReadonlyMap<string, JoinRow>): string {
  const way = [row];
  for (let last = row; ; ) {
    const next = byRun.get(last.into_run);
    if (next === undefined) return last.into_run;
    const at = way.indexOf(next);
    if (at >= 0) return way.slice(at).reduce(newer).into_run;
    way.push(next);
    last = next;
  }
}

function newer(one: JoinRow, other: JoinRow): JoinRow {
  if (one.version === other.version) return one.run_id > other.run_id ? one : other;
  return one.version > other.version ? one : other;
}
