// What must be asked of the store before a batch can be applied: ids that memory does not have and that may be stored,
// and components of its process that are near in time. For most batches that is nothing, so finding out makes no object per
// row.

import type { Int64Column, StringColumn } from "#base/columns.ts";
import type { FingerprintSet } from "#base/fingerprint-set.ts";
import type { NearQuestion } from "./away-components.ts";
import { noteFacts } from "./batch-facts.ts";
import { Component } from "./component.ts";
import { type RowKind, saltId, type TimedFilter } from "./recent-rows.ts";
import { hourOfTime, isRepeated, isRootWord, keyHigh, keyLow, loadId, storedKey, timeAt } from "./row-ids.ts";
import { type CirronRows, idsOf } from "./rows.ts";
import { type Stretch, tables } from "./stretches.ts";
import type { CirronWorkspace } from "./workspace.ts";

export interface AskedId {
  readonly kind: RowKind;
  readonly id: string;
  readonly key: bigint;
  /** When its row begins, or the row that names it. */
  readonly time: number;
}

export interface Needs {
  readonly ids: readonly AskedId[];
  readonly batchIds: readonly string[];
  readonly near: NearQuestion | null;
  /** Whose neighbours are asked for. */
  readonly facts: Component;
}

/** The ids of one or several batches that the store was asked for and does not have. Valid while memory drops nothing. */
export interface Cleared {
  readonly losses: number;
  readonly names: Set<string>;
  batch: boolean;
}

export function clearedName({ kind, key }: Pick<AskedId, "kind" | "key">): string {
  return `${kind}${key}`;
}

export interface BatchFacts {
  readonly batchId: string;
  readonly rows: CirronRows;
  /** The key or import folder it came from. */
  readonly source: string;
  readonly runOverride: string | null;
}

/** Null when memory has all that this batch needs. */
export function findNeeds(state: CirronWorkspace, batch: BatchFacts, cleared: Cleared | null): Needs | null {
  const isKept = state.ledger.get(batch.batchId) !== undefined;
  const ids = state.isWhole ? [] : scanIds(state, batch.rows, cleared);
  const isEmpty = isEmptyBatch(batch.rows);
  const asksBatch =
    !isKept &&
    cleared?.batch !== true &&
    (ids.length > 0 || state.ledger.mayBeStored(batch.batchId) || (isEmpty && !state.isWhole));
  const facts = state.away.isEmpty ? nobody : factsOf(batch, tiedTo(state, batch.rows));
  const near = state.away.isEmpty ? null : state.away.questionFor(facts, state.gapNs);
  if (ids.length === 0 && !asksBatch && near === null) return null;
  return { ids, batchIds: asksBatch ? [batch.batchId] : [], near, facts };
}

/** For a question that asks for no neighbours. */
export const nobody: Component = new Component("", "");

function isEmptyBatch({ spans, marks, snapshots }: CirronRows): boolean {
  return spans.span_id.length + marks.mark_id.length + snapshots.snapshot_id.length === 0;
}

function scanIds(state: CirronWorkspace, rows: CirronRows, cleared: Cleared | null): AskedId[] {
  const scan = new IdScan(state, cleared);
  for (const table of tables) scan.scan(rows, { table, from: 0, to: rows[table].span_id.length });
  return scan.asked;
}

/** The ids that some rows of a batch need. */
export function scanStretch(state: CirronWorkspace, rows: CirronRows, stretch: Stretch, cleared: Cleared): AskedId[] {
  const scan = new IdScan(state, cleared);
  scan.scan(rows, stretch);
  return scan.asked;
}

class IdScan {
  private readonly state: CirronWorkspace;
  private readonly cleared: Cleared | null;
  private readonly found = new Map<string, AskedId>();

  constructor(state: CirronWorkspace, cleared: Cleared | null) {
    this.state = state;
    this.cleared = cleared;
  }

  get asked(): AskedId[] {
    return [...this.found.values()];
  }

  scan(rows: CirronRows, stretch: Stretch): void {
    const { table } = stretch;
    if (table === "spans") {
      const { span_id, parent_id, start_ns } = rows.spans;
      this.own("span", span_id, start_ns, stretch);
      this.named(parent_id.inner, start_ns, parent_id.nulls.values, stretch);
      return;
    }
    const { span_id, ts_ns } = rows[table];
    this.own(table === "marks" ? "mark" : "snapshot", idsOf(rows, table), ts_ns, stretch);
    this.named(span_id, ts_ns, null, stretch);
  }

  /** The rows' own ids. A copy begins at the same time as the row, and what live jobs send begins after everything dropped. */
  private own(kind: RowKind, ids: StringColumn, times: Int64Column, { from, to }: Stretch): void {
    const { recent } = this.state;
    let filters: readonly TimedFilter[] = [];
    for (let row = from, last = Number.NaN; row < to; row++) {
      const time = timeAt(times, row);
      const hour = hourOfTime(time);
      if (hour !== last) filters = recent.filtersOf(hour);
      last = hour;
      const mayBeStored = recent.mayBeStored(time);
      if (!mayBeStored && !reaches(filters, time)) continue;
      loadId(ids, row);
      saltId(kind);
      if (mayBeStored || mayKnowAt(filters, time)) this.ask(kind, ids, row, time);
    }
  }

  /** The ids of spans that rows name. Those spans may begin at any time. */
  private named(ids: StringColumn, times: Int64Column, nulls: Uint8Array | null, { from, to }: Stretch): void {
    const { recent } = this.state;
    const filters = recent.filters();
    if (filters.length === 0 && !this.mayAnyBeStored(times, from, to)) return;
    for (let row = from; row < to; row++) {
      if (nulls?.[row] === 1 || isRepeated(ids, row) || isRootWord(ids, row)) continue;
      const time = timeAt(times, row);
      loadId(ids, row);
      if (recent.mayBeStored(time) || mayKnow(filters)) this.ask("span", ids, row, time);
    }
  }

  private mayAnyBeStored(times: Int64Column, from: number, to: number): boolean {
    for (let row = from; row < to; row++) if (this.state.recent.mayBeStored(timeAt(times, row))) return true;
    return false;
  }

  /** The id in `idWords` may be stored: asks for it unless memory has it. */
  private ask(kind: RowKind, ids: StringColumn, row: number, time: number): void {
    const { recent, components } = this.state;
    const entry = recent.find();
    if (entry >= 0 && components.has(recent.ownerOf(entry))) return;
    const key = storedKey();
    const name = clearedName({ kind, key });
    if (this.cleared?.names.has(name) === true) return;
    this.found.set(name, { kind, id: ids.at(row), key, time });
  }
}

function mayKnow(filters: readonly FingerprintSet[]): boolean {
  const low = keyLow();
  const high = keyHigh();
  for (const filter of filters) if (filter.has(low, high)) return true;
  return false;
}

function reaches(filters: readonly TimedFilter[], time: number): boolean {
  for (const { until } of filters) if (time <= until) return true;
  return false;
}

function mayKnowAt(filters: readonly TimedFilter[], time: number): boolean {
  const low = keyLow();
  const high = keyHigh();
  for (const { ids, until } of filters) if (time <= until && ids.has(low, high)) return true;
  return false;
}

/** The facts of the component that the batch will belong to, as far as they are needed to find its neighbours. */
export function factsOf({ rows, source, runOverride }: BatchFacts, tied: Iterable<Component>): Component {
  const facts = new Component("", "");
  facts.sources.add(source);
  if (runOverride !== null) facts.runOverrides.add(runOverride);
  noteFacts(facts, rows);
  for (const component of tied) {
    for (const other of component.sources) facts.sources.add(other);
    for (const process of component.processes) facts.processes.add(process);
    for (const [id, awaited] of component.unresolved) facts.unresolved.set(id, awaited);
    facts.spans += component.spans;
    if (component.firstNs < facts.firstNs) facts.firstNs = component.firstNs;
    if (component.lastNs > facts.lastNs) facts.lastNs = component.lastNs;
  }
  return facts;
}

/** The components in memory to which rows of a batch refer. */
export function tiedTo(state: CirronWorkspace, rows: CirronRows): Set<Component> {
  const tied = new Set<Component>();
  for (const table of tables) addTied(tied, state, rows, { table, from: 0, to: rows[table].span_id.length });
  return tied;
}

/** Adds those to which the rows of a stretch refer. */
export function addTied(
  tied: Set<Component>,
  { recent, components }: CirronWorkspace,
  rows: CirronRows,
  { table, from, to }: Stretch,
): void {
  const look = (ids: StringColumn, nulls: Uint8Array | null): void => {
    for (let row = from; row < to; row++) {
      if (nulls?.[row] === 1 || isRepeated(ids, row)) continue;
      loadId(ids, row);
      const entry = recent.find();
      if (entry >= 0 && components.has(recent.ownerOf(entry))) tied.add(components.get(recent.ownerOf(entry)));
    }
  };
  if (table === "spans") look(rows.spans.parent_id.inner, rows.spans.parent_id.nulls.values);
  look(rows[table].span_id, null);
}
