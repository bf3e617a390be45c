// A watched run: what is remembered of it, and what rules have seen in it. What it sent before it was watched is read from
// the store; what arrives meanwhile is kept in order.

import assert from "node:assert/strict";
import type { SenderNs, ServerNs } from "#base/clock.ts";
import { SparseMap } from "#base/sparse-map.ts";
import type { PointColumns } from "#judge/points.ts";
import { RunTrack, type TrackRoom, type TrackStep } from "#judge/track.ts";
import type { GroupName, RunId, WorkerId, Workspace } from "#model/names.ts";
import { Arrivals } from "./arrivals.ts";
import type { Firing } from "./firing.ts";
import { readSeenFirings, type SeenFirings } from "./seen-firings.ts";
import type { TableSight } from "./table-rules.ts";

/** Takes what has just arrived. */
export interface TrackSink {
  heardNs: ServerNs;
  /** Rows [from, to) of columns that are used again afterwards: points of one series, each with a value. */
  addPoints(rows: PointColumns, from: number, to: number, receivedNs: ServerNs): void;
  addStep(step: TrackStep, receivedNs: ServerNs): void;
  addWait(worker: WorkerId, ns: number): void;
  addCheckpoint(tsNs: SenderNs): void;
}

type RoomNow = () => TrackRoom;

/** A service that sends each request by itself has new groups all day. */
const groupsMax = 64;
/** The numbers of more workers are not remembered, and each of their events counts as news. */
const workersMax = 1024;
/** A collector that sees something in a run that goes on says so again before this time is over. */
const saysAgainNs = 30_000_000_000n;
const endOfTime = 2n ** 63n - 1n;

/**
 * Takes what arrives until the stored past of the run has been read. A run that began while it was watched has none, and
 * `heard` is all of it; to any other run's past the latest arrivals are added. Beyond a bound the oldest are dropped: they
 * are stored by then.
 */
class Waiting implements TrackSink {
  heardNs = 0n;
  /** Everything that has arrived, and nothing from before. */
  readonly heard: RunTrack;
  private readonly arrivals = new Arrivals();

  constructor(room: RoomNow | undefined) {
    this.heard = new RunTrack(room);
  }

  addPoints(rows: PointColumns, from: number, to: number, receivedNs: ServerNs): void {
    this.heard.addPoints(rows, from, to, receivedNs);
    this.arrivals.addPoints(rows, from, to, receivedNs);
  }

  addStep(step: TrackStep, receivedNs: ServerNs): void {
    this.heard.addStep(step, receivedNs);
    this.arrivals.addStep(step, receivedNs);
  }

  addWait(worker: WorkerId, ns: number): void {
    this.heard.addWait(worker, ns);
    this.arrivals.addWait(worker, ns);
  }

  addCheckpoint(tsNs: SenderNs): void {
    this.heard.addCheckpoint(tsNs);
    this.arrivals.addCheckpoint(tsNs);
  }

  giveTo(track: RunTrack): void {
    this.arrivals.giveTo(track);
    track.noteNonfinite(this.heard);
  }
}

interface Numbered {
  readonly groupKey: GroupName;
  readonly worker: WorkerId;
  last: bigint;
}

export class RunWatch {
  readonly workspace: Workspace;
  private name: RunId;
  /** Something came since the last look. */
  isDue = true;
  /** Whether the run goes on, so that silence may mean something. */
  isOpen = true;
  /** Commands of a firing are under way. */
  isActing = false;
  /** When it was last looked at. */
  lookedNs = 0;
  /** What the table of runs said of it when it was last asked; null when that was nothing, or is no longer true. */
  sight: TableSight | null = null;
  seenNs = 0n;
  /** Rules that saw nothing in what is remembered, and of which nothing came since. */
  private idleRules: Set<string> | null = null;
  /** The last journal record that was heard of it. */
  heardPosition = 0;
  /** The last of them with more than a run sends all the time. */
  private toldPosition = 0;
  /** What the table said of it covers the journal up to here. */
  private seenPosition = 0;
  /** The last number that each worker gave an event, by group and worker, and whose came last. */
  private readonly numbered = new SparseMap<string, Numbered>();
  private lastNumbered: Numbered | undefined;
  /** Its groups that were heard, with the arrival of the earliest record that was. */
  private readonly heardFrom = new Map<string, bigint>();
  /** More groups were heard of it than are remembered. */
  hasManyGroups = false;
  /** It had another name when it was last looked at. */
  private isRenamed = false;
  /** Since when what a rule looks for is there, by rule. */
  readonly heldNs: SparseMap<string, bigint> = new SparseMap();
  /** When another collector last said that it sees what a rule looks for, by rule. */
  private readonly seenElsewhereNs = new SparseMap<string, bigint>();
  /** By rule, the newest first; also those from when the run had another name. */
  private readonly firings = new SparseMap<string, Firing[]>();
  private readonly room: RoomNow | undefined;
  private waiting: Waiting | null;
  /** Made when it is needed: for most runs `Waiting.heard` becomes the track. */
  private track: RunTrack | null = null;

  /** `room` says how much is remembered now; without it that is as much as may be. */
  constructor(workspace: Workspace, runId: RunId, room?: RoomNow) {
    this.workspace = workspace;
    this.name = runId;
    this.room = room;
    this.waiting = new Waiting(room);
  }

  private get ownTrack(): RunTrack {
    this.track ??= new RunTrack(this.room);
    return this.track;
  }

  /** The rule saw nothing in what is remembered, and need not look before something comes. */
  letRest(rule: string): void {
    this.idleRules ??= new Set();
    this.idleRules.add(rule);
  }

  isResting(rule: string): boolean {
    return this.idleRules?.has(rule) ?? false;
  }

  /** Since when a rule sees here what it looks for; a rule that was made or changed meanwhile begins anew. */
  hold(rule: string, ruleSinceNs: bigint, nowNs: bigint): bigint {
    const before = this.heldNs.get(rule);
    const sinceNs = before === undefined || before < ruleSinceNs ? nowNs : before;
    this.heldNs.set(rule, sinceNs);
    return sinceNs;
  }

  /** Rules that are gone, or about other runs by now, wait for nothing here. */
  holdOnly(rules: ReadonlySet<string>): void {
    for (const [rule] of this.heldNs) if (!rules.has(rule)) this.heldNs.delete(rule);
  }

  /** Rules have changed: what they said of it, and how far they look back, may have changed too. */
  rulesChanged(): void {
    this.sight = null;
    this.idleRules = null;
    if (this.isOpen) this.isDue = true;
    this.track?.widen();
    this.waiting?.heard.widen();
  }

  get runId(): RunId {
    return this.name;
  }

  /** Its groups belong to a run of this name now, and nothing of that was heard before. */
  rename(runId: RunId): void {
    this.name = runId;
    this.isRenamed = true;
    this.sight = null;
    this.isDue = true;
    this.idleRules = null;
  }

  get sink(): TrackSink {
    return this.waiting ?? this.ownTrack;
  }

  /**
   * A record of one of its groups; says whether the group is remembered. Records that came over several connections are
   * not in the order of their arrival.
   */
  heard(groupKey: GroupName, arrivedNs: ServerNs, position: number): boolean {
    this.isDue = true;
    this.idleRules = null;
    this.heardPosition = position;
    const first = this.heardFrom.get(groupKey);
    if (first === undefined && this.isRemembered && this.heardFrom.size >= groupsMax) {
      this.hasManyGroups = true;
      return false;
    }
    if (first === undefined || arrivedNs < first) this.heardFrom.set(groupKey, arrivedNs);
    return true;
  }

  /** A record with more than a run sends all the time: the table may say something else of it, once that is stored. */
  told(position: number): void {
    this.toldPosition = position;
  }

  /** Events that are not the next of their worker leave a gap or close one, which the table tells. */
  heardNumbers(groupKey: GroupName, worker: WorkerId, first: bigint, last: bigint): void {
    const { lastNumbered } = this;
    const isSame = lastNumbered?.groupKey === groupKey && lastNumbered.worker === worker;
    const before = isSame ? lastNumbered : this.numbered.get(`${groupKey}\0${worker}`);
    if (before === undefined) this.beginNumbers({ groupKey, worker, last });
    else {
      if (first !== before.last + 1n) this.told(this.heardPosition);
      if (last > before.last) before.last = last;
      this.lastNumbered = before;
    }
  }

  private beginNumbers(numbered: Numbered): void {
    this.told(this.heardPosition);
    if (this.numbered.size < workersMax) this.numbered.set(`${numbered.groupKey}\0${numbered.worker}`, numbered);
  }

  /** The table was asked, when the store had everything up to `stored`. */
  saw(sight: TableSight | null, seenNs: ServerNs, stored: number): void {
    this.sight = sight;
    this.seenNs = seenNs;
    this.seenPosition = stored;
  }

  /** Whether something was heard that the table may not have had yet when it was asked. */
  get hasNews(): boolean {
    return this.toldPosition > this.seenPosition;
  }

  /** The groups it was heard by; only some of them if they are many. */
  get groupsHeard(): Iterable<string> {
    return this.heardFrom.keys();
  }

  /** The group belongs to another run now. */
  part(groupKey: GroupName): void {
    this.heardFrom.delete(groupKey);
  }

  /** Whether everything of a group was heard whose first record arrived then. */
  hasHeardWhole(groupKey: GroupName, firstArrivalNs: ServerNs): boolean {
    const heardNs = this.heardFrom.get(groupKey);
    return this.waiting !== null && heardNs !== undefined && firstArrivalNs >= heardNs;
  }

  /** What is remembered of a renamed run is kept only if the run has no other groups; otherwise it starts over. */
  recognise(groups: readonly string[]): void {
    const isKnown = !this.hasManyGroups && groups.every((group) => this.heardFrom.has(group));
    if (this.isRenamed && this.waiting === null && !isKnown) {
      this.waiting = new Waiting(this.room);
      this.track = null;
      for (const group of groups) if (this.heardFrom.has(group)) this.heardFrom.set(group, endOfTime);
    }
    this.isRenamed = false;
  }

  /** Whether what it sent before it was watched is known. */
  get isRemembered(): boolean {
    return this.waiting === null;
  }

  /** What is known of it, once it is remembered. */
  get remembered(): RunTrack {
    assert(this.waiting === null, "a run is remembered before it is looked at");
    return this.ownTrack;
  }

  /** Something that the store knows, in order of time. */
  recall(give: (track: RunTrack) => void): void {
    if (this.waiting !== null) give(this.ownTrack);
  }

  /** The stored past is read; what arrived meanwhile is added to it. */
  settle(nowNs: ServerNs): void {
    const { waiting } = this;
    if (waiting === null) return;
    const track = this.ownTrack;
    track.looked();
    // Replayed steps have the run's own times; how long it has been silent counts from now on.
    if (track.steppedNs !== 0n) track.steppedNs = nowNs;
    waiting.giveTo(track);
    this.remember(track, waiting);
  }

  /** The run began while it was watched: what was heard is all of it. */
  settleWhole(): void {
    const { waiting } = this;
    if (waiting !== null) this.remember(waiting.heard, waiting);
  }

  private remember(track: RunTrack, { heardNs }: Waiting): void {
    if (heardNs > track.heardNs) track.heardNs = heardNs;
    this.track = track;
    this.waiting = null;
  }

  /** What was seen of it before, here or by another collector. */
  async readFirings(seen: SeenFirings): Promise<void> {
    for (const firing of await readSeenFirings(seen, this.workspace, [this.runId])) this.note(firing);
  }

  /** What a rule saw of it under its name, the newest first. */
  firingsOf(rule: string): Firing[] {
    return (this.firings.get(rule) ?? []).filter(({ runId }) => runId === this.name);
  }

  /** Whether a rule has seen anything of it under any name. */
  hasFirings(rule: string): boolean {
    return this.firings.has(rule);
  }

  noteSeenElsewhere(rule: string, nowNs: ServerNs): void {
    this.seenElsewhereNs.set(rule, nowNs);
  }

  /** Whether another collector sees what a rule looks for, which may be in rows that are not here. */
  isSeenElsewhere(rule: string, nowNs: ServerNs): boolean {
    const sinceNs = this.seenElsewhereNs.get(rule);
    return sinceNs !== undefined && nowNs - sinceNs < saysAgainNs;
  }

  findFiring({ rule, id }: Firing): Firing | undefined {
    return this.firings.get(rule)?.find((firing) => firing.id === id);
  }

  note(firing: Firing): void {
    const known = this.firings.get(firing.rule) ?? [];
    const at = known.findIndex(({ id }) => id === firing.id);
    if (at >= 0) known[at] = firing;
    else known.push(firing);
    this.firings.set(
      firing.rule,
      known.sort((a, b) => Number(b.firedNs - a.firedNs)),
    );
  }
}
