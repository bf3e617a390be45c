// What intake knows of the records that came before: identities, groups and the runs they belong to. It is bounded, and
// derived: what memory has dropped is read from the store when a record names it, before that record is applied.

import type { ServerNs } from "#base/clock.ts";
import { type GroupKey, groupPrefix, parseGroupKey } from "#model/group-key.ts";
import type { GroupName, RunId } from "#model/names.ts";
import type { TimeWindow } from "./away-events.ts";
import { CirronMemory, type CirronOutline } from "./cirron/memory.ts";
import { type CirronLimits, defaultCirronLimits, type KeptShares } from "./cirron/workspace.ts";
import { faultId, type PlacedFault } from "./fault-rows.ts";
import type { FaultName, IntakeStore } from "./intake-store.ts";
import { Joins } from "./joins.ts";
import { KnownGroups } from "./known-groups.ts";
import { RecentIds } from "./recent-ids.ts";

export interface IntakeLimits extends CirronLimits {
  /** What groups with their identities may take. */
  readonly groupBytesMax: number;
  /** A run with more events is not read whole; where they lie is. */
  readonly wholeEventsMax: number;
}

export const defaultIntakeLimits: IntakeLimits = {
  ...defaultCirronLimits,
  groupBytesMax: 128 * 1024 * 1024,
  wholeEventsMax: 262_144,
};

/**
 * Down to what memory is emptied: the limits, `tight` and `full` while memory is short, `rest` on a quiet server, or nothing.
 */
export type ShrinkTo = "limits" | "tight" | "full" | "rest" | "nothing";
/** Active senders refer to rows of the last seconds, so a server that is short of memory keeps those and drops the others. */
const keptShares: Record<ShrinkTo, KeptShares> = {
  limits: { rows: 1, others: 1 },
  tight: { rows: 1, others: 1 / 2 },
  full: { rows: 1, others: 1 / 4 },
  rest: { rows: 1 / 4, others: 1 / 4 },
  nothing: { rows: 0, others: 0 },
};

/** What is read from the store at start, so that new records need not be looked up. */
export interface StoredOutline extends CirronOutline {
  readonly groupKeys: Iterable<string>;
}

export interface IntakeStateOptions {
  readonly store: IntakeStore;
  readonly sessionGapNs: bigint;
  /** The store holds nothing yet. */
  readonly isFresh: boolean;
  readonly limits?: IntakeLimits | undefined;
}

/** The part of the state that suffices for protocols whose records are known by their group. */
export type KnownRecords = Pick<IntakeState, "groups" | "faults">;

export class IntakeState {
  readonly groups: KnownGroups;
  readonly faults = new RecentIds();
  readonly joins = new Joins();
  /** The protocol whose rows are known across groups. */
  readonly cirron: CirronMemory;
  private readonly store: IntakeStore;
  private readonly limits: IntakeLimits;
  private readonly isFresh: boolean;
  /** Groups whose rows are being removed: inputs that name them wait until the rows are gone. */
  readonly leaving: Map<string, Promise<void>>;
  private readonly askedFaults = new WeakSet<object>();
  /** Reads of the store that are under way, so that an input that was put off does not start them again. */
  private readonly reading = new Map<string, Promise<void>>();

  constructor(
    { store, sessionGapNs, isFresh, limits = defaultIntakeLimits }: IntakeStateOptions,
    leaving: Map<string, Promise<void>> = new Map(),
  ) {
    this.store = store;
    this.leaving = leaving;
    this.isFresh = isFresh;
    this.limits = limits;
    this.groups = new KnownGroups(isFresh);
    this.cirron = new CirronMemory({ store, sessionGapNs, isFresh, limits, joins: this.joins });
  }

  /** The run that a group's records name now, if the group is in memory. */
  runOf(groupKey: GroupName): RunId | undefined {
    return this.groups.runOf(groupKey) ?? this.cirron.runOf(groupKey);
  }

  /** The same, after joins made by people. */
  joinedRunOf(groupKey: GroupName): string | undefined {
    const runId = this.runOf(groupKey);
    if (runId === undefined || this.joins.isEmpty) return runId;
    return this.joins.runOf(parseGroupKey(groupKey).workspace, runId);
  }

  /** The groups that runs have now, stored or not stored yet. */
  groupsNow(workspace: string, stored: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
    const groups = new Map<string, Set<string>>();
    for (const [runId, keys] of stored)
      groups.set(runId, new Set(keys.filter((key) => (this.joinedRunOf(key) ?? runId) === runId)));
    const prefix = groupPrefix(workspace);
    for (const keys of [this.groups.keys(), this.cirron.groupKeys(workspace)])
      for (const key of keys) if (key.startsWith(prefix)) groups.get(this.joinedRunOf(key) ?? "")?.add(key);
    return new Map([...groups].map(([runId, keys]) => [runId, [...keys]]));
  }

  /** Until this is called, the store is asked for everything that memory lacks. */
  warm(outline: StoredOutline): void {
    this.groups.noteStored(outline.groupKeys);
    this.groups.warm();
    this.cirron.warm(outline);
  }

  /** Reads what was foreseen. */
  readForeseen(): Promise<void> {
    return this.cirron.readForeseen(this.leaving);
  }

  /** Reads the groups that an input names and memory does not have; null when it has them. */
  prepareGroups(groupKeys: Iterable<GroupKey>): Promise<void> | null {
    const missing: GroupKey[] = [];
    for (const key of groupKeys) {
      const leaving = this.leaving.get(key);
      if (leaving !== undefined) return leaving;
      if (this.groups.isMissing(key)) missing.push(key);
    }
    return missing.length === 0 ? null : this.loadGroups(missing);
  }

  /** Reads the events that lie in these windows of groups; null when there are none. */
  prepareEvents(windows: ReadonlyMap<GroupKey, ReadonlySet<TimeWindow>>): Promise<void> | null {
    return windows.size === 0 ? null : this.loadEvents(windows);
  }

  /** Reads which of an input's faults are stored, once per `decoded`; null when memory knows. */
  prepareFaults(workspace: string, decoded: object, faults: readonly PlacedFault[]): Promise<void> | null {
    if (this.isWhole || faults.length === 0 || this.askedFaults.has(decoded)) return null;
    const missing = faults.flatMap(({ fault, groupKey }) => {
      const id = faultId(fault);
      return this.faults.has(id, workspace) ? [] : [{ groupKey, code: fault.code, id }];
    });
    return missing.length === 0 ? null : this.loadFaults(workspace, decoded, missing);
  }

  /** Drops what is beyond the limits and stored: `storedPosition` is the last journal record that is stored. */
  shrink(storedPosition: number, appliedPosition: number, nowNs: ServerNs, to: ShrinkTo = "limits"): void {
    const shares = keptShares[to];
    this.groups.shrink(this.limits.groupBytesMax * shares.others, storedPosition);
    if (storedPosition >= appliedPosition) this.faults.shrink(shares.others === 0);
    this.cirron.shrink(storedPosition, nowNs, shares);
  }

  /** Rows of these groups are being removed until `gone` resolves. */
  leave(groupKeys: readonly string[], gone: Promise<void>): void {
    for (const key of groupKeys) this.leaving.set(key, gone);
  }

  /** Whether rows of one of these groups are being removed. */
  isLeaving(groupKeys: Iterable<string>): boolean {
    if (this.leaving.size > 0) for (const key of groupKeys) if (this.leaving.has(key)) return true;
    return false;
  }

  /** The groups are gone: their records are new when they arrive again. */
  forget(groupKeys: readonly string[]): void {
    const keys = new Set(groupKeys);
    for (const key of keys) {
      this.leaving.delete(key);
      this.reading.delete(key);
      this.groups.forget(key);
    }
    this.cirron.forget(keys);
  }

  private async loadGroups(groupKeys: readonly GroupKey[]): Promise<void> {
    await Promise.all(
      groupKeys.map((key) =>
        this.readOnce(key, async (isCurrent) => {
          const { row, loading } = await this.store.readKnownGroup(key);
          if (isCurrent()) this.groups.load(key, row, loading);
        }),
      ),
    );
  }

  private async loadEvents(windows: ReadonlyMap<GroupKey, ReadonlySet<TimeWindow>>): Promise<void> {
    for (const [key, some] of windows)
      for (const window of some)
        await this.readOnce(`${key}\0${window.fromNs}\0${window.toNs}`, async () => {
          const returning = this.groups.returning(key);
          if (returning === undefined) return;
          await this.store.readEvents(key, window, returning);
          returning.cameBack(window);
        });
  }

  /** `isCurrent` is false once the group was deleted: what was read of it is gone then. */
  private readOnce(name: string, read: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const begun = this.reading.get(name);
    if (begun !== undefined) return begun;
    const isCurrent = (): boolean => this.reading.get(name) === reading;
    const reading = read(isCurrent).finally(() => isCurrent() && this.reading.delete(name));
    this.reading.set(name, reading);
    return reading;
  }

  private async loadFaults(workspace: string, decoded: object, faults: readonly FaultName[]): Promise<void> {
    for (const id of await this.store.findFaults(workspace, faults)) this.faults.add(id, workspace);
    this.askedFaults.add(decoded);
  }

  /** Nothing was ever stored that memory does not have. */
  private get isWhole(): boolean {
    return this.isFresh && this.faults.isWhole;
  }
}
