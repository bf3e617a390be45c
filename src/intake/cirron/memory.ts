// What intake remembers of Cirron, whose rows are known by their ids across all groups of a workspace. Before a batch is
// applied, what it needs and memory has dropped is read from the store.

import type { ServerNs } from "#base/clock.ts";
import type { Arrival } from "#intake/input.ts";
import type { Joins } from "#intake/joins.ts";
import { formatGroupKey, groupKinds, parseGroupKey } from "#model/group-key.ts";
import type { GroupName, RunId } from "#model/names.ts";
import type { CirronBatch } from "#wire/cirron/batch.ts";
import type { AwayComponent } from "./away-components.ts";
import type { LongBatch } from "./long-batch.ts";
import { type AskedId, type Cleared, clearedName, findNeeds, nobody, tiedTo } from "./needs.ts";
import { type CirronStore, recall } from "./recall.ts";
import type { RowFilter, RowHours } from "./recent-rows.ts";
import { type CirronLimits, CirronWorkspace, type KeptShares } from "./workspace.ts";

/** What is read from the store at start, so that new rows need not be looked up. */
export interface CirronOutline {
  /** Hours in which stored rows begin. */
  readonly rowHours: RowHours;
  /** A filter over the rows of some of these hours. */
  readonly recentRows: RowFilter | null;
  /** Recent components, by workspace. */
  readonly components: ReadonlyMap<string, readonly AwayComponent[]>;
  /** Hours that have older components; null when any hour may have one. */
  readonly otherComponentHours: ReadonlySet<number> | null;
  /** Batches of the last day, by workspace. */
  readonly batchIds: ReadonlyMap<string, readonly string[]>;
}

export interface CirronMemoryOptions {
  readonly store: CirronStore;
  /** How long a process may be silent and still be in the same session. */
  readonly sessionGapNs: bigint;
  /** The store holds nothing. */
  readonly isFresh: boolean;
  readonly limits: CirronLimits;
  readonly joins: Joins;
}

export class CirronMemory {
  private readonly options: CirronMemoryOptions;
  private readonly workspaces = new Map<string, CirronWorkspace>();
  private outline: CirronOutline | null = null;
  /** What was looked up for batches that wait to be applied. */
  private readonly cleared = new WeakMap<CirronBatch, Cleared>();
  /** The next batches to be applied, with the ids that they need. */
  private foreseen: {
    readonly state: CirronWorkspace;
    readonly batch: CirronBatch;
    readonly ids: readonly AskedId[];
  }[] = [];

  constructor(options: CirronMemoryOptions) {
    this.options = options;
  }

  of(workspace: string): CirronWorkspace {
    let state = this.workspaces.get(workspace);
    if (state === undefined) {
      const { sessionGapNs, isFresh, limits, joins } = this.options;
      state = new CirronWorkspace(workspace, sessionGapNs, isFresh, limits, joins);
      this.workspaces.set(workspace, state);
      if (this.outline !== null) warmWorkspace(state, this.outline);
    }
    return state;
  }

  /** Every workspace that has a state. */
  all(): Iterable<CirronWorkspace> {
    return this.workspaces.values();
  }

  /** The run that a group's rows belong to now, if the group is in memory. */
  runOf(groupKey: GroupName): RunId | undefined {
    return this.workspaces.get(parseGroupKey(groupKey).workspace)?.map.runOf(groupKey);
  }

  /** The groups of a workspace that are in memory. */
  *groupKeys(workspace: string): Iterable<string> {
    for (const [, { told }] of this.workspaces.get(workspace)?.components.entries() ?? []) yield* told.keys();
  }

  /** Until this is called, the store is asked for everything that memory lacks. */
  warm(outline: CirronOutline): void {
    this.outline = outline;
    for (const state of this.workspaces.values()) warmWorkspace(state, outline);
  }

  /** Reads what a batch needs and memory does not have; null when it needs nothing. */
  prepare(
    { workspace, source, runOverride }: Arrival,
    batch: CirronBatch,
    leaving: ReadonlyMap<string, Promise<void>>,
  ): Promise<void> | null {
    const state = this.of(workspace);
    const left = leaving.size === 0 ? undefined : findLeaving(state, batch, leaving);
    if (left !== undefined) return left;
    const known = this.cleared.get(batch);
    const cleared = known !== undefined && known.losses === state.losses ? known : null;
    const needs = findNeeds(state, { batchId: batch.batchId, rows: batch, source, runOverride }, cleared);
    if (needs === null) return null;
    const memo = cleared ?? { losses: state.losses, names: new Set<string>(), batch: false };
    this.cleared.set(batch, memo);
    return recall(state, this.options.store, needs, memo, leaving);
  }

  /** Notes what a batch that will be applied soon needs, for `readForeseen`. */
  foresee({ workspace, source, runOverride }: Arrival, batch: CirronBatch): void {
    const state = this.of(workspace);
    const needs = findNeeds(state, { batchId: batch.batchId, rows: batch, source, runOverride }, null);
    if (needs !== null) this.foreseen.push({ state, batch, ids: needs.ids });
  }

  /** Neighbours are left out: which ones a batch has depends on the batches before it. */
  async readForeseen(leaving: ReadonlyMap<string, Promise<void>>): Promise<void> {
    const foreseen = Map.groupBy(this.foreseen.splice(0), ({ state }) => state);
    for (const [state, some] of foreseen) {
      const ids = [...new Map(some.flatMap((one) => one.ids.map((id) => [clearedName(id), id]))).values()];
      const batchIds = some.map(({ batch }) => batch.batchId);
      const memo: Cleared = { losses: state.losses, names: new Set(), batch: false };
      await recall(state, this.options.store, { ids, batchIds, near: null, facts: nobody }, memo, leaving);
      for (const { batch } of some) this.cleared.set(batch, memo);
    }
  }

  /** As `prepare`, for a batch that takes long. */
  prepareLong(arrival: Arrival, long: LongBatch, leaving: ReadonlyMap<string, Promise<void>>): Promise<void> | null {
    const state = this.of(arrival.workspace);
    const left = leaving.size === 0 ? undefined : findLeaving(state, long.batch, leaving);
    return left ?? long.prepare(state, this.options.store, arrival, leaving);
  }

  shrink(storedPosition: number, nowNs: ServerNs, shares: KeptShares): void {
    for (const state of this.workspaces.values()) state.shrink(storedPosition, nowNs, shares);
  }

  forget(groupKeys: ReadonlySet<string>): void {
    for (const state of this.workspaces.values()) state.forget(groupKeys);
  }
}

function findLeaving(
  state: CirronWorkspace,
  batch: CirronBatch,
  leaving: ReadonlyMap<string, Promise<void>>,
): Promise<void> | undefined {
  const own = leaving.get(formatGroupKey(state.workspace, groupKinds.cirronBatch, batch.batchId));
  if (own !== undefined) return own;
  for (const { groupKeys } of tiedTo(state, batch))
    for (const key of groupKeys) if (leaving.has(key)) return leaving.get(key);
  return undefined;
}

function warmWorkspace(state: CirronWorkspace, outline: CirronOutline): void {
  state.recent.warm(outline.rowHours, outline.recentRows);
  if (outline.otherComponentHours !== null)
    state.away.warm(outline.components.get(state.workspace) ?? [], outline.otherComponentHours);
  state.ledger.note(outline.batchIds.get(state.workspace) ?? []);
  state.ledger.warm();
}
