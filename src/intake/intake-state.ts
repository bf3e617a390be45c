// What intake knows of the records that came before: identities, groups and the runs they belong to. It is bounded, and
// derived: what memory has let go is read from the store when a record names it, before that record is applied.

import type { Bloom } from "#base/bloom.ts";
import { formatGroupKey, groupKinds, parseGroupKey } from "#model/group-key.ts";
import type { CirronBatch } from "#wire/cirron/decode.ts";
import { type Cleared, findNeeds, tiedTo } from "./cirron/needs.ts";
import { recall } from "./cirron/recall.ts";
import { type CirronLimits, CirronWorkspace, defaultCirronLimits } from "./cirron/workspace.ts";
import { faultId } from "./fault-rows.ts";
import type { CirronBatchInput, Input } from "./input.ts";
import type { FaultName, IntakeStore } from "./intake-store.ts";
import { KnownGroups } from "./known-groups.ts";
import { RecentIds } from "./recent-ids.ts";
import { loadIdentity } from "./record-identity.ts";
import { groupsOf as semantivaGroups } from "./semantiva/apply.ts";
import type { SemantivaChunk } from "./semantiva/decode-lines.ts";
import { toRunKey } from "./semantiva/keys.ts";
import { toGroupKey, groupsOf as xtrackGroups } from "./xtrack/apply.ts";
import type { DecodedXtrack } from "./xtrack/stream.ts";

export interface IntakeLimits extends CirronLimits {
  /** What groups with their identities may take. */
  readonly groupBytesMax: number;
}

export const defaultIntakeLimits: IntakeLimits = { ...defaultCirronLimits, groupBytesMax: 128 * 1024 * 1024 };

/** What the store says of itself at start, so that what is new costs no question. */
export interface StoredOutline {
  readonly groupKeys: Iterable<string>;
  /** Hours in which stored Cirron rows begin. */
  readonly rowHours: ReadonlySet<number>;
  /** A filter over the rows of some of these hours. */
  readonly recentRows: { readonly bloom: Bloom; readonly hours: ReadonlySet<number> } | null;
  /** Hours in which components lie; null when any may have one. */
  readonly componentHours: ReadonlySet<number> | null;
  /** Batches of the last day, by workspace. */
  readonly batchIds: ReadonlyMap<string, readonly string[]>;
}

export class IntakeState {
  readonly groups: KnownGroups;
  readonly faults = new RecentIds();
  private readonly cirron = new Map<string, CirronWorkspace>();
  private readonly store: IntakeStore;
  private readonly limits: IntakeLimits;
  private readonly gapNs: bigint;
  private readonly isFresh: boolean;
  private outline: StoredOutline | null = null;
  /** Groups whose rows are being removed: what names them waits until they are gone. */
  private readonly leaving = new Map<string, Promise<void>>();
  /** What was found out for inputs that wait to be applied. */
  private readonly cleared = new WeakMap<object, Cleared>();
  private readonly askedFaults = new WeakSet<object>();

  /** `isFresh`: the store holds nothing. */
  constructor(store: IntakeStore, gapNs: bigint, isFresh: boolean, limits: IntakeLimits = defaultIntakeLimits) {
    this.store = store;
    this.gapNs = gapNs;
    this.isFresh = isFresh;
    this.limits = limits;
    this.groups = new KnownGroups(isFresh);
  }

  get byteSize(): number {
    let sum = this.groups.byteSize + this.faults.byteSize;
    for (const state of this.cirron.values()) sum += state.byteSize;
    return sum;
  }

  cirronOf(workspace: string): CirronWorkspace {
    let state = this.cirron.get(workspace);
    if (state === undefined) {
      state = new CirronWorkspace(workspace, this.gapNs, this.isFresh, this.limits);
      this.cirron.set(workspace, state);
      if (this.outline !== null) warmCirron(state, this.outline);
    }
    return state;
  }

  /** The run that a group's rows belong to now, if the group is in memory. */
  runOf(groupKey: string): string | undefined {
    const { workspace, kind } = parseGroupKey(groupKey);
    if (kind !== groupKinds.cirronBatch) return this.groups.runOf(groupKey);
    return this.cirron.get(workspace)?.map.runOf(groupKey);
  }

  /** Until this is told, everything that memory does not have is asked of the store. */
  warm(outline: StoredOutline): void {
    this.outline = outline;
    this.groups.noteStored(outline.groupKeys);
    this.groups.warm();
    for (const state of this.cirron.values()) warmCirron(state, outline);
  }

  /** Reads what an input needs and memory does not have; null when it needs nothing. */
  prepareBatch(input: CirronBatchInput, batch: CirronBatch): Promise<void> | null {
    const state = this.cirronOf(input.workspace);
    const facts = { batchId: batch.batchId, rows: batch, source: input.source, runOverride: input.runOverride };
    const leaving = this.leaving.size === 0 ? undefined : this.findLeaving(state, input.workspace, batch);
    if (leaving !== undefined) return leaving;
    const known = this.cleared.get(batch);
    const cleared = known !== undefined && known.losses === state.losses ? known : null;
    const needs = findNeeds(state, facts, cleared);
    if (needs === null) return null;
    const memo = cleared ?? { losses: state.losses, names: new Set<string>(), batch: false };
    this.cleared.set(batch, memo);
    return recall(state, this.store, needs, memo, this.leaving);
  }

  /** As above, for inputs that name their groups. */
  prepareGroups(groupKeys: Iterable<string>): Promise<void> | null {
    const missing: string[] = [];
    for (const key of groupKeys) {
      const leaving = this.leaving.get(key);
      if (leaving !== undefined) return leaving;
      if (this.groups.isMissing(key)) missing.push(key);
    }
    return missing.length === 0 ? null : this.loadGroups(missing);
  }

  prepareXtrack(input: Input, decoded: DecodedXtrack): Promise<void> | null {
    const { workspace } = input;
    const faults = decoded.faults.map(({ fault, run }) => ({
      groupKey: run === "" ? "" : toGroupKey(workspace, run),
      code: fault.code,
      id: faultId(fault),
    }));
    return this.prepareGroups(xtrackGroups(decoded, workspace)) ?? this.prepareFaults(workspace, decoded, faults);
  }

  prepareSemantiva(input: Input, chunk: SemantivaChunk): Promise<void> | null {
    const { workspace } = input;
    const faults = chunk.faulty.map(({ fault, runId }) => ({
      groupKey: runId.isWellFormed() && runId !== "" ? toRunKey(workspace, runId) : "",
      code: fault.code,
      id: faultId(fault),
    }));
    return this.prepareGroups(semantivaGroups(chunk, workspace)) ?? this.prepareFaults(workspace, chunk, faults);
  }

  /** Lets go of what is beyond the limits, of what is stored: `storedPosition` is the last journal record that is. */
  shrink(storedPosition: number, appliedPosition: number, nowNs: bigint, everything = false): void {
    this.groups.shrink(everything ? 0 : this.limits.groupBytesMax, storedPosition);
    if (storedPosition >= appliedPosition) this.faults.shrink(everything);
    for (const state of this.cirron.values()) state.shrink(storedPosition, nowNs, everything);
  }

  /** Rows of these groups are being removed until `gone` resolves. */
  leave(groupKeys: readonly string[], gone: Promise<void>): void {
    for (const key of groupKeys) this.leaving.set(key, gone);
  }

  /** Resolves when no rows are being removed. */
  async gone(): Promise<void> {
    await Promise.allSettled(this.leaving.values());
  }

  /** The groups are gone: their records are new when they come again. */
  forget(groupKeys: readonly string[]): void {
    const keys = new Set(groupKeys);
    for (const key of keys) {
      this.leaving.delete(key);
      this.groups.forget(key);
    }
    for (const state of this.cirron.values()) state.forget(keys);
  }

  /** Everything that was known, all of which is stored: others may have changed it there. */
  forgetAll(): void {
    this.groups.forgetAll();
    for (const state of this.cirron.values()) state.forgetAll();
  }

  private async loadGroups(groupKeys: readonly string[]): Promise<void> {
    await Promise.all(
      groupKeys.map(async (key) => {
        const { row, loading } = await this.store.readKnownGroup(key);
        this.groups.load(key, row, loading);
      }),
    );
  }

  private prepareFaults(workspace: string, decoded: object, faults: readonly FaultName[]): Promise<void> | null {
    if (this.isWhole || faults.length === 0 || this.askedFaults.has(decoded)) return null;
    const missing = faults.filter(({ id }) => {
      loadIdentity(Buffer.from(id, "hex"), workspace);
      return !this.faults.has();
    });
    if (missing.length === 0) return null;
    return this.loadFaults(workspace, decoded, missing);
  }

  private async loadFaults(workspace: string, decoded: object, faults: readonly FaultName[]): Promise<void> {
    for (const id of await this.store.findFaults(workspace, faults)) {
      loadIdentity(Buffer.from(id, "hex"), workspace);
      this.faults.add();
    }
    this.askedFaults.add(decoded);
  }

  /** Nothing was ever stored that memory does not have. */
  private get isWhole(): boolean {
    return this.isFresh && this.faults.isWhole;
  }

  private findLeaving(state: CirronWorkspace, workspace: string, batch: CirronBatch): Promise<void> | undefined {
    const own = this.leaving.get(formatGroupKey(workspace, groupKinds.cirronBatch, batch.batchId));
    if (own !== undefined) return own;
    for (const { groupKeys } of tiedTo(state, batch))
      for (const key of groupKeys) if (this.leaving.has(key)) return this.leaving.get(key);
    return undefined;
  }
}

function warmCirron(state: CirronWorkspace, outline: StoredOutline): void {
  state.recent.warm(outline.rowHours, outline.recentRows);
  if (outline.componentHours !== null) state.away.warm(outline.componentHours);
  state.ledger.note(outline.batchIds.get(state.workspace) ?? []);
  state.ledger.warm();
}
