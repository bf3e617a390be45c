// The points of one group and key in columns, by time. Once made they are never changed: a series that is being worked
// out is not disturbed by points that come in meanwhile, which make new columns.

import { compareText } from "#base/compare-text.ts";
import { sortIndex } from "#base/sort-index.ts";
import type { PointBlock } from "#store/reader/points.ts";

/** A worker and a phase that points are of. */
export interface PointSort {
  readonly worker: string;
  readonly phase: string;
}

export interface Points {
  readonly count: number;
  readonly sorts: readonly PointSort[];
  /** By point: its place in `sorts`. */
  readonly sort: Uint16Array;
  readonly step: BigInt64Array;
  readonly epoch: BigInt64Array | null;
  readonly tsNs: BigInt64Array;
  readonly value: Float64Array;
  readonly tie: BigInt64Array;
  readonly entry: Int32Array;
  readonly flags: Uint8Array;
  /** The flags of all points together: what some of them lack. */
  readonly lacking: number;
}

export function bytesOf({ count, epoch }: Points): number {
  return count * (2 + 8 * 4 + 4 + 1 + (epoch === null ? 0 : 8)) + 500;
}

type Columns = ReturnType<typeof createColumns>;

function createColumns(size: number, hasEpoch: boolean) {
  return {
    sort: new Uint16Array(size),
    step: new BigInt64Array(size),
    epoch: new BigInt64Array(hasEpoch ? size : 0),
    tsNs: new BigInt64Array(size),
    value: new Float64Array(size),
    tie: new BigInt64Array(size),
    entry: new Int32Array(size),
    flags: new Uint8Array(size),
  };
}

/** All but `sort`, whose numbers mean something else in each source of points. */
type PointColumns = Pick<Points, "step" | "epoch" | "tsNs" | "value" | "tie" | "entry" | "flags">;

/** Rows from (included) to (excluded), into the columns from `at` on. */
function copyRows(source: PointColumns, from: number, to: number, into: PointColumns, at: number): void {
  into.step.set(source.step.subarray(from, to), at);
  if (source.epoch !== null) into.epoch?.set(source.epoch.subarray(from, to), at);
  into.tsNs.set(source.tsNs.subarray(from, to), at);
  into.value.set(source.value.subarray(from, to), at);
  into.tie.set(source.tie.subarray(from, to), at);
  into.entry.set(source.entry.subarray(from, to), at);
  into.flags.set(source.flags.subarray(from, to), at);
}

const sortsMax = 65536;

/** Gathers points in any order, behind those that are known already. */
export class PointGatherer {
  private readonly sorts: PointSort[] = [];
  private readonly sortOf = new Map<string, number>();
  private readonly hasEpoch: boolean;
  private columns: Columns;
  private count = 0;

  constructor(hasEpoch: boolean, expected: number) {
    this.hasEpoch = hasEpoch;
    this.columns = createColumns(expected, hasEpoch);
  }

  addPoints(points: Points): void {
    const { count } = points;
    this.reserve(count);
    const at = this.count;
    const { columns } = this;
    const sorts = points.sorts.map(({ worker, phase }) => this.toSort(worker, phase));
    for (let i = 0; i < count; i++) columns.sort[at + i] = sorts[points.sort[i] as number] as number;
    copyRows(points, 0, count, columns, at);
    this.count += count;
  }

  /** Rows from (included) to (excluded), all of this group and key. */
  addRows(block: PointBlock, from: number, to: number): void {
    this.reserve(to - from);
    const at = this.count;
    const { columns } = this;
    const { worker, phase } = block;
    let [lastWorker, lastPhase, sort] = [-1, -1, 0];
    for (let row = from; row < to; row++) {
      const workerCode = worker.codes[row] as number;
      const phaseCode = phase.codes[row] as number;
      if (workerCode !== lastWorker || phaseCode !== lastPhase) {
        [lastWorker, lastPhase] = [workerCode, phaseCode];
        sort = this.toSort(worker.keys[workerCode] as string, phase.keys[phaseCode] as string);
      }
      columns.sort[at + row - from] = sort;
    }
    copyRows(block, from, to, columns, at);
    this.count += to - from;
  }

  /** By time, tie, entry and worker; of a point that is stored twice until the engine merges it, only one. */
  finish(): Points {
    const order = this.toOrder();
    const { columns, hasEpoch, sorts } = this;
    const count = order === null ? this.count : order.length;
    const picked = order === null ? columns : pick(columns, order, hasEpoch);
    const cut = count === picked.tsNs.length ? picked : resized(picked, count, count, hasEpoch);
    const lacking = cut.flags.reduce((all, flags) => all | flags, 0);
    return { ...cut, count, sorts, epoch: hasEpoch ? cut.epoch : null, lacking };
  }

  /** Null when the points are in order as they are. */
  private toOrder(): Uint32Array | null {
    const { tsNs, tie, entry, sort } = this.columns;
    const time = toWords(tsNs);
    const ties = toWords(tie);
    const ranks = this.toRanks();
    const compare = (a: number, b: number): number =>
      compareWords(time, a, b) ||
      compareWords(ties, a, b) ||
      (entry[a] as number) - (entry[b] as number) ||
      (ranks[sort[a] as number] as number) - (ranks[sort[b] as number] as number);
    let isSorted = true;
    for (let i = 1; i < this.count && isSorted; i++) isSorted = compare(i - 1, i) < 0;
    if (isSorted) return null;
    const order = new Uint32Array(this.count);
    for (let i = 0; i < order.length; i++) order[i] = i;
    sortIndex(order, compare);
    let kept = 0;
    for (const point of order) if (kept === 0 || !this.isCopy(order[kept - 1] as number, point)) order[kept++] = point;
    return order.subarray(0, kept);
  }

  /** The places of the sorts among each other, which do not depend on what was read first. */
  private toRanks(): Uint32Array {
    const { sorts } = this;
    const ranks = new Uint32Array(sorts.length);
    const byName = (a: PointSort, b: PointSort): number =>
      compareText(a.worker, b.worker) || compareText(a.phase, b.phase);
    for (const [rank, sort] of [...sorts.keys()]
      .sort((a, b) => byName(sorts[a] as PointSort, sorts[b] as PointSort))
      .entries())
      ranks[sort] = rank;
    return ranks;
  }

  /** The same worker's point of the same time, sequence number and place in its batch is the same point. */
  private isCopy(a: number, b: number): boolean {
    const { tsNs, tie, entry, sort } = this.columns;
    if (tsNs[a] !== tsNs[b] || tie[a] !== tie[b] || entry[a] !== entry[b]) return false;
    return this.sorts[sort[a] as number]?.worker === this.sorts[sort[b] as number]?.worker;
  }

  private toSort(worker: string, phase: string): number {
    const id = `${worker}\n${phase}`;
    const known = this.sortOf.get(id);
    if (known !== undefined) return known;
    if (this.sorts.length === sortsMax) throw new Error(`a metric has more than ${sortsMax} workers and phases`);
    this.sortOf.set(id, this.sorts.length);
    return this.sorts.push({ worker, phase }) - 1;
  }

  private reserve(rows: number): void {
    const needed = this.count + rows;
    if (needed <= this.columns.tsNs.length) return;
    this.columns = resized(this.columns, this.count, Math.max(needed, this.count * 2), this.hasEpoch);
  }
}

/** Single points, in no order, as columns of their own; whose they are is not kept. */
export function copyPoints(refs: readonly { readonly points: Points; readonly point: number }[]): Points {
  const hasEpoch = refs.some(({ points }) => points.epoch !== null);
  const into = createColumns(refs.length, hasEpoch);
  let lacking = 0;
  for (const [at, { points, point }] of refs.entries()) {
    into.step[at] = points.step[point] as bigint;
    if (points.epoch !== null) into.epoch[at] = points.epoch[point] as bigint;
    into.tsNs[at] = points.tsNs[point] as bigint;
    into.value[at] = points.value[point] as number;
    into.tie[at] = points.tie[point] as bigint;
    into.entry[at] = points.entry[point] as number;
    into.flags[at] = points.flags[point] as number;
    lacking |= points.flags[point] as number;
  }
  return { ...into, count: refs.length, sorts: [], epoch: hasEpoch ? into.epoch : null, lacking };
}

function pick(from: Columns, order: Uint32Array, hasEpoch: boolean): Columns {
  const into = createColumns(order.length, hasEpoch);
  for (let i = 0; i < order.length; i++) {
    const point = order[i] as number;
    into.sort[i] = from.sort[point] as number;
    into.value[i] = from.value[point] as number;
    into.entry[i] = from.entry[point] as number;
    into.flags[i] = from.flags[point] as number;
  }
  pickWords(from.step, order, into.step);
  pickWords(from.tsNs, order, into.tsNs);
  pickWords(from.tie, order, into.tie);
  if (hasEpoch) pickWords(from.epoch, order, into.epoch);
  return into;
}

/** As two halves each: a BigInt for every value would cost far more. */
function pickWords(from: BigInt64Array, order: Uint32Array, into: BigInt64Array): void {
  const source = toWords(from);
  const target = toWords(into);
  for (let i = 0; i < order.length; i++) {
    const at = (order[i] as number) * 2;
    target[i * 2] = source[at] as number;
    target[i * 2 + 1] = source[at + 1] as number;
  }
}

/** The first `count` points, in columns of another size. */
function resized(columns: Columns, count: number, size: number, hasEpoch: boolean): Columns {
  const into = createColumns(size, hasEpoch);
  into.sort.set(columns.sort.subarray(0, count));
  copyRows(columns, 0, count, into, 0);
  return into;
}

export function toWords(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** Compares two values of a column of 64-bit integers by their halves. */
export function compareWords(words: Int32Array, a: number, b: number): number {
  return (
    (words[a * 2 + 1] as number) - (words[b * 2 + 1] as number) ||
    ((words[a * 2] as number) >>> 0) - ((words[b * 2] as number) >>> 0)
  );
}
