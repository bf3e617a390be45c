// What intake knows about the Cirron rows of one workspace, and how one more batch changes it. Everything here is
// derived: what memory has dropped is read from the store again when a row names it (see recall.ts).

import type { ServerNs } from "#base/clock.ts";
import { atOnce } from "#base/turns.ts";
import { toIdWords } from "#intake/id-map.ts";
import { Joins } from "#intake/joins.ts";
import type { Fault } from "#model/fault.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { GroupName, RunId } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { AwaitedParents } from "./awaited.ts";
import { AwayComponents } from "./away-components.ts";
import { BatchLedger, type KnownBatch } from "./batch-ledger.ts";
import { type Component, nameOf } from "./component.ts";
import { ComponentSet } from "./component-set.ts";
import { toMergedChange, toStateChange } from "./component-state.ts";
import { GroupMap, type MapCause, nextVersion, signatureOf } from "./group-map.ts";
import type { BatchFacts } from "./needs.ts";
import { defaultRecentLimits, type RecentLimits, RecentRows } from "./recent-rows.ts";
import { RowTaker, type Taken } from "./row-taker.ts";
import type { CirronRows } from "./rows.ts";
import type { StoredGroupRows } from "./stored-group.ts";

/** A batch as the journal holds it, decoded. */
export interface CirronArrival extends BatchFacts {
  /** SHA-256 of the body, hex. */
  readonly contentHash: string;
  readonly imported: boolean;
  readonly receivedNs: ServerNs;
  /** The journal record it came in. */
  readonly position: number;
}

export interface CirronOutcome {
  readonly groupKey: GroupName;
  readonly dropped: { readonly [T in keyof CirronRows]: Uint8Array | null };
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: Fault[];
  /** The batch was known: same id and same content. */
  readonly isRepeat: boolean;
  /** The hash of the first batch with this id. */
  readonly contentHash: string;
  /** The first batch, if this one repeats it and came from the same source. */
  readonly repeated: KnownBatch | null;
  readonly changes: StateChange[];
  /** The ids that are known from now on, so that they are found in the store when memory has let them go. */
  readonly ids: Rows<"cirron_ids">;
}

/** The shares of the limits that are kept. */
export interface KeptShares {
  /** For recent rows. */
  readonly rows: number;
  readonly others: number;
}

export interface CirronLimits extends RecentLimits {
  readonly componentsMax: number;
  /** Components that were silent for longer than this are dropped. */
  readonly quietNs: bigint;
}

export const defaultCirronLimits: CirronLimits = {
  ...defaultRecentLimits,
  componentsMax: 20_000,
  quietNs: 3n * 3600n * 1_000_000_000n,
};

/** How often quiet components are looked for within the time after which one counts as quiet. */
const quietLooks = 128n;

const textEncoder = new TextEncoder();

/** What is known about a batch before its rows are taken. */
interface Begun {
  readonly known: KnownBatch | undefined;
  /** Where its first copy is. */
  readonly home: number | undefined;
  readonly ownKey: string;
  readonly start: number;
  readonly own: Component;
  readonly isFresh: boolean;
}

export class CirronWorkspace {
  readonly components = new ComponentSet();
  readonly recent: RecentRows;
  readonly ledger: BatchLedger;
  readonly awaited = new AwaitedParents();
  private readonly taker: RowTaker;
  readonly map: GroupMap;
  readonly workspace: string;
  readonly gapNs: bigint;
  /** Components that are stored and not in memory. */
  readonly away: AwayComponents;
  /** Counts what was dropped. After a drop, what was looked up before may no longer hold. */
  losses = 0;
  /** Counts deletions of groups: what is being read from the store meanwhile may be gone. */
  deletions = 0;
  private lookedForQuietNs = 0n;
  private readonly limits: CirronLimits;
  /** Components whose state is to be stored. */
  private readonly untold = new Set<Component>();

  /** `isFresh`: the store holds nothing of this workspace. */
  constructor(
    workspace: string,
    gapNs: bigint,
    isFresh = true,
    limits: CirronLimits = defaultCirronLimits,
    joins: Joins = new Joins(),
  ) {
    this.workspace = workspace;
    this.gapNs = gapNs;
    this.limits = limits;
    this.recent = new RecentRows(isFresh ? new Map() : null, limits);
    this.away = new AwayComponents(isFresh);
    this.ledger = new BatchLedger(isFresh);
    this.map = new GroupMap(this.components, gapNs, joins);
    this.components.generation = this.recent.generation;
    this.taker = new RowTaker(this.recent, this.components, this.awaited);
  }

  /** Memory has everything of this workspace that is stored. */
  get isWhole(): boolean {
    return this.recent.isWhole && this.losses === 0;
  }

  /** Nothing else may change the workspace between the steps. */
  *apply(arrival: CirronArrival): Generator<void, CirronOutcome> {
    const begun = this.begin(arrival);
    if ("isRepeat" in begun) return begun;
    return yield* this.end(arrival, begun, yield* this.taker.take(arrival.rows, begun.start));
  }

  private begin(arrival: CirronArrival): Begun | CirronOutcome {
    const { batchId, contentHash, source, runOverride } = arrival;
    const known = this.ledger.get(batchId);
    const home = known === undefined ? undefined : this.components.ofKey(known.groupKey);
    if (known !== undefined && home !== undefined && known.contentHash === contentHash)
      return this.repeat(arrival, home, known);
    const ownKey = formatGroupKey(this.workspace, groupKinds.cirronBatch, batchId);
    // A batch id that arrives again with other content continues the component of its first copy, which may have this very key.
    const start =
      home ??
      this.components.ofKey(ownKey) ??
      this.taker.ownerOf(arrival.rows) ??
      this.components.add(this.workspace, ownKey);
    const own = this.components.get(start);
    const isFresh = own.version === 0n;
    own.sources.add(source);
    own.imported ||= arrival.imported;
    if (runOverride !== null) own.runOverrides.add(runOverride);
    return { known, home, ownKey, start, own, isFresh };
  }

  private *end(
    arrival: CirronArrival,
    { known, home, ownKey, own, isFresh }: Begun,
    taken: Taken,
  ): Generator<void, CirronOutcome> {
    const { batchId, contentHash } = arrival;
    const at = this.components.find(taken.component);
    const component = this.components.get(at);
    // Tied to an older component, its rows are stored under that component's key, and its own is never used.
    if (isFresh && component !== own) this.components.forgetKey(at, ownKey);
    if (taken.duplicates > 0 && home === undefined) component.forked = true;
    component.generation = this.recent.generation;
    yield* this.components.indexInSteps(at);
    this.recent.note(arrival.position);
    const { faults } = taken;
    if (home !== undefined && (taken.accepted > 0 || faults.length > 0)) faults.unshift(reusedBatch(batchId));
    const groupKey = nameOf(component);
    const { source, runOverride, receivedNs } = arrival;
    const first = { contentHash, groupKey, source, runOverride: runOverride ?? "", receivedNs };
    if (home === undefined) this.ledger.add(batchId, first, arrival.position);
    taken.ids.group_key.padTo(taken.ids.id_key.length, groupKey);
    return {
      groupKey,
      dropped: taken.dropped,
      accepted: taken.accepted,
      duplicates: taken.duplicates,
      faults,
      isRepeat: false,
      contentHash: known?.contentHash ?? contentHash,
      repeated: null,
      changes: this.tell([at], arrival),
      ids: taken.ids,
    };
  }

  /** The run of a span that has arrived or is named by other rows, if memory knows it. */
  runOfSpan(spanId: string): RunId | undefined {
    toIdWords(textEncoder.encode(spanId));
    const entry = this.recent.find();
    const owner = entry < 0 ? 0 : this.components.find(this.recent.ownerOf(entry));
    return this.components.has(owner) ? this.map.runOf(nameOf(this.components.get(owner))) : undefined;
  }

  /**
   * Drops rows and components beyond these shares of the limits, those untouched longest first, and only what is stored and can
   * be read again. A share of 0 drops everything that can be read again.
   */
  shrink(storedPosition: number, nowNs: ServerNs, { rows, others }: KeptShares): void {
    this.ledger.shrink(storedPosition, nowNs, others);
    for (let left = this.recent.generationsBeyond(rows); left > 0; left--) this.rotate(storedPosition);
    this.recent.dropFilters(others);
    const componentsMax = this.limits.componentsMax * others;
    if (this.components.size > componentsMax)
      this.dropComponents(storedPosition, this.components.size - (componentsMax * 7) / 8);
    else this.dropQuiet(storedPosition, nowNs);
  }

  /** The groups were deleted: their rows are new when they arrive again. */
  forget(groupKeys: ReadonlySet<string>): void {
    this.deletions++;
    for (const key of groupKeys) {
      const at = this.components.ofKey(key);
      if (at !== undefined) this.drop(at);
    }
    this.ledger.forget(groupKeys);
  }

  /** Makes a component from the rows of a group that has no stored one. It is announced with the next batch. */
  takeStoredGroup({ groupKey, rows, sources, runOverrides, told, aliases }: StoredGroupRows): void {
    if (this.components.ofKey(groupKey) !== undefined) return;
    const at = this.components.add(this.workspace, groupKey);
    const component = this.components.get(at);
    component.version = told?.version ?? 1n;
    for (const source of sources) component.sources.add(source);
    for (const run of runOverrides) component.runOverrides.add(run);
    if (told !== null) {
      const { run_id: runId, imported, forked } = told;
      component.told.set(groupKey, { runId, signature: signatureOf(told) });
      component.imported = imported === 1;
      component.forked = forked === 1;
    }
    for (const alias of aliases) component.aliases.add(`${alias}\n${groupKey}`);
    const taken = this.components.get(atOnce(this.taker.take(rows, at)).component);
    taken.generation = this.recent.generation;
    this.components.index(this.components.ofKey(groupKey) as number);
    this.untold.add(taken);
  }

  /** Rebuilds components from all their groups, after another collector wrote to some of them. */
  remake(groups: readonly StoredGroupRows[], cause: MapCause): StateChange[] {
    for (const { groupKey } of groups) {
      const at = this.components.ofKey(groupKey);
      if (at !== undefined) this.drop(at);
    }
    for (const group of groups) this.takeStoredGroup(group);
    const made = new Set(groups.flatMap(({ groupKey }) => this.components.ofKey(groupKey) ?? []));
    return this.tell([...made], cause);
  }

  private tell(indexes: readonly number[], arrival: MapCause): StateChange[] {
    for (const at of indexes) {
      const component = this.components.get(at);
      nextVersion(component, arrival);
      this.untold.add(component);
    }
    const { changes, components } = this.map.update(indexes, arrival);
    for (const { gone, into } of this.components.takeMerges())
      if (gone.version > 0n) changes.push(toMergedChange(gone, into));
    for (const other of components) this.untold.add(other);
    for (const one of this.untold)
      if (this.components.ofKey(nameOf(one)) !== undefined) changes.push(toStateChange(one));
    this.untold.clear();
    return changes;
  }

  private repeat(arrival: CirronArrival, at: number, known: KnownBatch): CirronOutcome {
    const component = this.components.get(at);
    component.sources.add(arrival.source);
    component.imported ||= arrival.imported;
    if (arrival.runOverride !== null) component.runOverrides.add(arrival.runOverride);
    this.components.index(at);
    const { spans, marks, snapshots } = arrival.rows;
    return {
      groupKey: nameOf(component),
      dropped: { spans: null, marks: null, snapshots: null },
      accepted: 0,
      duplicates: spans.span_id.length + marks.mark_id.length + snapshots.snapshot_id.length,
      faults: [],
      isRepeat: true,
      contentHash: arrival.contentHash,
      repeated: known.source === arrival.source ? known : null,
      changes: this.tell([at], arrival),
      ids: createRows("cirron_ids"),
    };
  }

  private rotate(storedPosition: number): void {
    const gone = this.recent.rotate(storedPosition);
    if (gone < 0) return;
    this.losses++;
    this.components.generation = this.recent.generation;
    this.components.forgetMoves(gone);
    this.awaited.forgetResolved(gone);
    // Parents that are still awaited stay known.
    for (const [at, { unresolved, lastNs }] of this.components.entries()) {
      const last = Number(lastNs);
      for (const awaited of unresolved.values()) {
        if (awaited.generation > gone) continue;
        toIdWords(textEncoder.encode(awaited.id));
        if (this.recent.find() < 0) this.recent.add(at, 0, awaited.number, last, last);
        awaited.generation = this.recent.generation;
      }
    }
  }

  /** Called after every stored plan, but quiet components are looked for only now and then. */
  private dropQuiet(storedPosition: number, nowNs: ServerNs): void {
    const { quietNs } = this.limits;
    const restedNs = nowNs - this.lookedForQuietNs;
    if (restedNs >= 0n && restedNs < quietNs / quietLooks) return;
    this.lookedForQuietNs = nowNs;
    for (const [at, component] of this.components.entries())
      if (component.version < nowNs - quietNs && component.position <= storedPosition) this.release(at);
  }

  private dropComponents(storedPosition: number, count: number): void {
    const oldest = [...this.components.entries()]
      .filter(([, { position }]) => position <= storedPosition)
      .sort(([, a], [, b]) => a.position - b.position);
    for (const [at] of oldest.slice(0, Math.ceil(count))) this.release(at);
  }

  /** A component whose rows are still in memory stays: the rows would have no owner. */
  private release(at: number): void {
    const component = this.components.get(at);
    if (component.generation >= this.recent.generation - 1) return;
    this.away.add(component);
    this.drop(at);
  }

  private drop(at: number): void {
    this.losses++;
    for (const awaited of this.components.get(at).unresolved.values()) this.awaited.drop(awaited);
    this.components.drop(at);
  }
}

function reusedBatch(batchId: string): Fault {
  return {
    code: "batch_id_reused",
    detail: `Batch ${batchId} came again with other content; its new rows are taken.`,
    place: {},
    raw: new Uint8Array(0),
  };
}
