// The runs that rules look at here, by name and by the groups that were heard. A Cirron run may get another name while it
// goes on, when a late span names its process: what was heard of it continues under the new name and is not read from the
// store again.

import type { ServerNs } from "#base/clock.ts";
import type { TrackRoom } from "#judge/track.ts";
import type { GroupName, RunId, Workspace } from "#model/names.ts";
import { lookAgainAfter } from "./rests.ts";
import { RunWatch } from "./run-watch.ts";

/** What is remembered of one takes some kilobytes. */
const runsMax = 10_000;
/** While memory is short, those that are over are forgotten beyond this. */
const runsTight = runsMax / 2;
/** Each new run beyond that makes room by looking at this many, not at all of them. */
const forgettableMax = 16;
/** Runs that one tick looks at: so many or this part of them; the others wait for the next one. */
const looksMin = 200;
const looksPart = 1 / 20;
/** Runs that the table is asked for at once. */
export const askedMax = 2000;

export class WatchedRuns {
  private readonly byName = new Map<string, RunWatch>();
  private readonly byGroup = new Map<string, RunWatch>();
  private readonly runOf: (groupKey: GroupName) => RunId | undefined;
  private readonly roomIn: (workspace: Workspace) => TrackRoom;
  private readonly isTight: () => boolean;

  /** `roomIn` says how much of a run is worth remembering now. */
  constructor(
    runOf: (groupKey: GroupName) => RunId | undefined,
    roomIn: (workspace: Workspace) => TrackRoom,
    isTight: () => boolean = () => false,
  ) {
    this.runOf = runOf;
    this.roomIn = roomIn;
    this.isTight = isTight;
  }

  /** The runs to look at now, the one that waited longest first. */
  dueAt(nowNs: ServerNs): RunWatch[] {
    const hasRested = (run: RunWatch): boolean => {
      const restNs = lookAgainAfter(nowNs - run.sink.heardNs, run.heldNs.size > 0);
      return Number(nowNs) - run.lookedNs > Number(restNs);
    };
    const due = [...this.byName.values()]
      .filter((run) => run.isDue || ((run.isOpen || run.heldNs.size > 0) && hasRested(run)))
      .sort((a, b) => a.lookedNs - b.lookedNs);
    // A run keeps everything that arrives until its first look, and the engine takes as long for one run as for hundreds.
    const fresh = due.filter((run) => run.lookedNs === 0).length;
    return due.slice(0, Math.max(looksMin, this.byName.size * looksPart, Math.min(askedMax, fresh)));
  }

  values(): IteratorObject<RunWatch> {
    return this.byName.values();
  }

  find(workspace: Workspace, runId: RunId): RunWatch | undefined {
    return this.byName.get(nameOf(workspace, runId));
  }

  get(workspace: Workspace, runId: RunId): RunWatch {
    const name = nameOf(workspace, runId);
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const run = new RunWatch(workspace, runId, () => this.roomIn(workspace));
    this.byName.set(name, run);
    if (this.byName.size > runsTight && this.isTight()) this.forgetOver();
    if (this.byName.size > runsMax) this.forgetOldest();
    return run;
  }

  /** A record of a group has come. */
  hear(workspace: Workspace, groupKey: GroupName, arrivedNs: ServerNs, position: number): RunWatch | undefined {
    const runId = this.runOf(groupKey);
    if (runId === undefined) return undefined;
    const known = this.byGroup.get(groupKey);
    const isSame = known?.runId === runId && known.workspace === workspace;
    const run = isSame ? known : this.get(workspace, runId);
    if (run.heard(groupKey, arrivedNs, position) && !isSame) this.byGroup.set(groupKey, run);
    return run;
  }

  /** The run that a group was last heard of as; undefined where that is not remembered. */
  heardOf(groupKey: GroupName): RunWatch | undefined {
    return this.byGroup.get(groupKey);
  }

  /** To be called when a group may belong to another run than before. */
  regroup(groupKey: GroupName): void {
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

  /** Forgets those of the oldest few that are over. The others go to the end of the line. */
  private forgetOver(): void {
    for (const [name, run] of this.byName.entries().take(forgettableMax)) {
      if (!run.isOpen && !run.isDue) this.forget(run);
      else {
        this.byName.delete(name);
        this.byName.set(name, run);
      }
    }
  }

  /** Forgets one of the oldest few that has nothing to look at. If all of them have, up to twice as many runs are kept. */
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
