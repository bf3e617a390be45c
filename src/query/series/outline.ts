// What must be known of a series before its points can be put into buckets: how many there are, and their lowest and highest
// position. It is added up share by share, so that the points need never be in memory all at once.

import { pointAt, type Share } from "./choose.ts";

export interface BucketOptions {
  readonly buckets: number;
  readonly byPosition: boolean;
}

export class SeriesOutline {
  points = 0;
  low = 0n;
  high = 0n;
  /** The earliest time. */
  time = 0n;
  private readonly options: BucketOptions;
  /** Distinct positions; null when they do not matter, or when there are more of them than buckets. */
  private positions: Set<number | bigint> | null;

  constructor(options: BucketOptions) {
    this.options = options;
    this.positions = options.byPosition ? new Set() : null;
  }

  /** A series with no more points than buckets is returned point by point. */
  get isExact(): boolean {
    return !this.options.byPosition && this.points <= this.options.buckets;
  }

  /** A bucket for each position, in order; null where buckets are even parts of the range. */
  toPositionBuckets(): Map<number | bigint, number> | null {
    if (this.positions === null) return null;
    const sorted = [...this.positions].sort((a, b) => (a < b ? -1 : 1));
    return new Map(sorted.map((position, bucket) => [position, bucket]));
  }

  add(share: Share): void {
    const { low, high, time } = boundsOf(share);
    if (this.points === 0 || low < this.low) this.low = low;
    if (this.points === 0 || high > this.high) this.high = high;
    if (this.points === 0 || time < this.time) this.time = time;
    this.points += share.count;
    this.addPositions(share);
  }

  private addPositions(share: Share): void {
    for (let i = 0; i < share.count && this.positions !== null; i++) {
      this.positions.add(positionOf(share, pointAt(share, i)));
      if (this.positions.size > this.options.buckets) this.positions = null;
    }
  }
}

/** Equal positions are equal values, whether they are exact as numbers or not. */
export function positionOf({ places }: Share, point: number): number | bigint {
  const here = places.numberAt(point);
  return Number.isSafeInteger(here) ? here : places.exactAt(point);
}

function boundsOf(share: Share): { low: bigint; high: bigint; time: bigint } {
  const { points, places } = share;
  const first = pointAt(share, 0);
  const last = pointAt(share, share.count - 1);
  const isWhole = share.count === points.count;
  // Points lie by time.
  const isByTime = places.words.buffer === points.tsNs.buffer;
  let ends = isByTime ? { low: first, high: last } : isWhole ? knownEnds.get(places.words.buffer) : undefined;
  if (ends === undefined) {
    ends = findEnds(share);
    if (isWhole) knownEnds.set(places.words.buffer, ends);
  }
  return { low: places.exactAt(ends.low), high: places.exactAt(ends.high), time: points.tsNs[first] as bigint };
}

interface Ends {
  /** The points that stand lowest and highest. */
  readonly low: number;
  readonly high: number;
}

/** By the memory of a column, which never changes. */
const knownEnds = new WeakMap<ArrayBufferLike, Ends>();

function findEnds(share: Share): Ends {
  const { places } = share;
  let [lowAt, highAt] = [pointAt(share, 0), pointAt(share, 0)];
  let [low, high] = [places.numberAt(lowAt), places.numberAt(highAt)];
  for (let i = 1; i < share.count; i++) {
    const point = pointAt(share, i);
    const here = places.numberAt(point);
    // Rounded numbers do not tell which of two equals is further out.
    if (here < low || (here === low && places.compare(point, places, lowAt) < 0)) [low, lowAt] = [here, point];
    if (here > high || (here === high && places.compare(point, places, highAt) > 0)) [high, highAt] = [here, point];
  }
  return { low: lowAt, high: highAt };
}
