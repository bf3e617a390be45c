// A series in buckets. A bucket keeps its first, last, least and greatest point and counts what is not finite, so that
// no extreme is ever sampled away. Buckets divide the window evenly by position, which makes the same request over the
// same data give the same answer. A series with no more points than buckets is returned point by point.
//
// The engine does the same for series that are too large to be held here (store/reader/series.ts); a test keeps the
// two equal.

import { type Chosen, isBefore, type Share } from "./choose.ts";
import { type BucketColumns, Fold } from "./fold.ts";

export interface Buckets extends BucketColumns {
  readonly points: number;
  readonly exact: boolean;
  readonly xBase: bigint;
  readonly tBase: bigint;
}

export interface BucketOptions {
  readonly buckets: number;
  readonly byPosition: boolean;
}

export function toBuckets({ shares }: Chosen, { buckets, byPosition }: BucketOptions): Buckets {
  const points = shares.reduce((sum, { count }) => sum + count, 0);
  const { low, high, time } = toBounds(shares);
  const isShort = byPosition ? hasFewPositions(shares, buckets) : points <= buckets;
  const fold = new Fold(shares, isShort ? points : buckets);
  if (isShort) foldShort(fold, shares, byPosition);
  else fold.takeEvenly(Number(low), Number(high));
  return { points, exact: isShort && !byPosition, xBase: low, tBase: time, ...fold.finish(low, time) };
}

/** The number of the i-th point of a share. */
export function pointAt({ at, from }: Share, i: number): number {
  return at === null ? from + i : (at[i] as number);
}

interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
  readonly time: bigint;
}

function toBounds(shares: readonly Share[]): Bounds {
  return shares.map(boundsOf).reduce((all, one) => ({
    low: one.low < all.low ? one.low : all.low,
    high: one.high > all.high ? one.high : all.high,
    time: one.time < all.time ? one.time : all.time,
  }));
}

function boundsOf(share: Share): Bounds {
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

function hasFewPositions(shares: readonly Share[], most: number): boolean {
  const seen = new Set<number | bigint>();
  for (const share of shares)
    for (let i = 0; i < share.count; i++) {
      const point = pointAt(share, i);
      const here = share.places.numberAt(point);
      seen.add(Number.isSafeInteger(here) ? here : share.places.exactAt(point));
      if (seen.size > most) return false;
    }
  return true;
}

interface PlacedPoint {
  readonly share: number;
  readonly point: number;
}

/** A bucket for each point, or for each position. */
function foldShort(fold: Fold, shares: readonly Share[], byPosition: boolean): void {
  const shareOf = ({ share }: PlacedPoint) => shares[share] as Share;
  const goesBefore = (a: PlacedPoint, b: PlacedPoint) => isBefore(shareOf(a), a.point, shareOf(b), b.point);
  const sorted = shares
    .flatMap((share, number) =>
      Array.from({ length: share.count }, (_, i): PlacedPoint => ({ share: number, point: pointAt(share, i) })),
    )
    .sort((a, b) => (goesBefore(a, b) ? -1 : goesBefore(b, a) ? 1 : 0));
  let bucket = -1;
  let before: PlacedPoint | null = null;
  for (const here of sorted) {
    const isNew =
      !byPosition ||
      before === null ||
      shareOf(before).places.compare(before.point, shareOf(here).places, here.point) !== 0;
    if (isNew) bucket++;
    fold.take(here.share, here.point, bucket);
    before = here;
  }
}
