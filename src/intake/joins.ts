// The runs that people joined to others, so that live events are published under the right run. A join never touches stored
// rows: answers apply it in `store/joined-groups.ts`. Joins are few and made by hand, so all are in memory.

import type { ServerNs } from "#base/clock.ts";
import type { RunId, Workspace } from "#model/names.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";

export type JoinRow = StateRow<"joins">;

export class Joins {
  /** By `<workspace>/<run>`; only those in force. */
  private readonly joined = new Map<string, JoinRow>();

  get isEmpty(): boolean {
    return this.joined.size === 0;
  }

  /** The run that a run counts to today. */
  runOf(workspace: Workspace, runId: RunId): string {
    return this.joined.get(`${workspace}/${runId}`)?.into_run ?? runId;
  }

  /** A row that is stored; the newest of a run counts. */
  note(row: JoinRow): void {
    const key = `${row.workspace}/${row.run_id}`;
    if (row.version < (this.joined.get(key)?.version ?? 0n)) return;
    if (row.parted === 1) this.joined.delete(key);
    else this.joined.set(key, row);
  }

  /** Replaces all that are known: another collector may have changed them. */
  replace(rows: readonly JoinRow[]): void {
    this.joined.clear();
    for (const row of rows) this.note(row);
  }

  /** The runs that are joined to this one. */
  partsOf(workspace: Workspace, runId: RunId): JoinRow[] {
    return [...this.joined.values()].filter((row) => row.workspace === workspace && row.into_run === runId);
  }

  /**
   * A run goes on under another id, because a late record says who it is. Its own join follows it. Runs that were joined to it
   * follow too, if nothing is left under its old id.
   */
  follow(workspace: Workspace, before: string, now: string, isWhole: boolean, nowNs: ServerNs): StateChange[] {
    const mine = this.joined.get(`${workspace}/${before}`);
    const changed = [
      ...(mine === undefined || mine.into_run === now ? [] : [{ ...mine, run_id: now }]),
      ...(isWhole ? this.partsOf(workspace, before).map((row) => ({ ...row, into_run: now })) : []),
    ].filter((row) => row.run_id !== row.into_run);
    return changed.map((row) => {
      const later = { ...row, version: row.version >= nowNs ? row.version + 1n : nowNs };
      this.note(later);
      return { table: "joins", row: later };
    });
  }

  /** Rows that undo the joins to a run, when it is deleted. */
  toParted(workspace: Workspace, runId: RunId, nowNs: ServerNs): StateChange[] {
    return this.partsOf(workspace, runId).map((row) => ({
      table: "joins",
      row: { ...row, parted: 1, version: nowNs },
    }));
  }
}
