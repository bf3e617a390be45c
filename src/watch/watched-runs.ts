// The runs that rules look at here, by their names and by the groups that were heard of them. A Cirron run may be called
// otherwise while it goes on, since a late span says what its process is called: what was heard of it then goes on under
// the new name, and is not read from the store once more.

import type { RunId, Workspace } from "#model/names.ts";
import { RunWatch } from "./run-watch.ts";

const runsMax = 2000;
/** Every new run beyond that looks for one to forget, so it may not look through all of them. */
const forgettableMax = 16;

export class WatchedRuns {
  private readonly byName = new Map<string, RunWatch>();
  private readonly byGroup = new Map<string, RunWatch>();
  private readonly runOf: (groupKey: string) => RunId | undefined;

  constructor(runOf: (groupKey: string) => RunId | undefined) {
    this.runOf = runOf;
  }

  values(): IteratorObject<RunWatch> {
    return this.byName.values();
  }

  get(workspace: Workspace, runId: RunId): RunWatch {
    const name = nameOf(workspace, runId);
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const run = new RunWatch(workspace, runId);
    this.byName.set(name, run);
    if (this.byName.size > runsMax) this.forgetOldest();
    return run;
  }

  /** A record of a group has come. */
  hear(workspace: Workspace, groupKey: string, arrivedNs: bigint, position: number): RunWatch | undefined {
    const runId = this.runOf(groupKey);
    if (runId === undefined) return undefined;
    const run = this.get(workspace, runId);
    if (run.heard(groupKey, arrivedNs, position)) this.byGroup.set(groupKey, run);
    return run;
  }

  /** The run that a group was last heard of as; undefined where that is not remembered. */
  heardOf(groupKey: string): RunWatch | undefined {
    return this.byGroup.get(groupKey);
  }

  /** To be called when a group may belong to another run than before. */
  regroup(groupKey: string): void {
    const run = this.byGroup.get(groupKey);
    const runId = this.runOf(groupKey);
    if (run === undefined || runId === undefined || runId === run.runId) return;
    const name = nameOf(run.workspace, runId);
    const hasBecomeIt = !run.hasManyGroups && [...run.groupsHeard].every((group) => this.runOf(group) === runId);
    if (hasBecomeIt && !this.byName.has(name)) {
      this.byName.delete(nameOf(run.workspace, run.runId));
      run.rename(runId);
      this.byName.set(name, run);
    } else {
      run.part(groupKey);
      this.byGroup.delete(groupKey);
    }
  }

  forget(run: RunWatch): void {
    this.byName.delete(nameOf(run.workspace, run.runId));
    // What people joined may be heard as another run's since.
    for (const group of run.groupsHeard) if (this.byGroup.get(group) === run) this.byGroup.delete(group);
  }

  /** Of the oldest few, one that has nothing to be looked at; where all have, runs may be twice as many. */
  private forgetOldest(): void {
    let looked = 0;
    for (const run of this.byName.values()) {
      if (run.isOpen && run.isDue && this.byName.size <= runsMax * 2 && ++looked < forgettableMax) continue;
      if (looked < forgettableMax) this.forget(run);
      return;
    }
  }
}

function nameOf(workspace: Workspace, runId: RunId): string {
  return `${workspace}\0${runId}`;
}
