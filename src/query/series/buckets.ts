// A series in buckets. A bucket keeps its first, last, least and greatest point and counts what is not finite, so that
// no extreme is ever sampled away. Buckets divide the window evenly by position, which makes the same request over the
// same data give the same answer. A series with no more points than buckets is returned point by point.

import { type BucketColumns, BucketFiller } from "./bucket-filler.ts";
import { isBefore, pointAt, type Share } from "./choose.ts";
import { type BucketOptions, SeriesOutline } from "./outline.ts";

export interface Buckets extends BucketColumns {
  readonly points: number;
  readonly exact: boolean;
  readonly xBase: bigint;
  readonly tBase: bigint;
}

/** Of points that are all at hand. */
export function toBuckets(shares: readonly Share[], options: BucketOptions): Buckets {
  const outline = new SeriesOutline(options);
  for (const share of shares) outline.add(share);
  const filler = new BucketFiller(outline, options);
  if (outline.isExact) fillExactly(filler, shares);
  else for (const share of shares) filler.add(share);
  return finishBuckets(filler, outline);
}

export function finishBuckets(filler: BucketFiller, outline: SeriesOutline): Buckets {
  const { points, isExact, low, time } = outline;
  return { points, exact: isExact, xBase: low, tBase: time, ...filler.finish(low, time) };
}

interface PlacedPoint {
  readonly share: Share;
  readonly point: number;
}

/** A bucket for each point. */
function fillExactly(filler: BucketFiller, shares: readonly Share[]): void {
  const goesBefore = (a: PlacedPoint, b: PlacedPoint) => isBefore(a.share, a.point, b.share, b.point);
  const sorted = shares
    .flatMap((share) =>
      Array.from({ length: share.count }, (_, i): PlacedPoint => ({ share, point: pointAt(share, i) })),
    )
    .sort((a, b) => (goesBefore(a, b) ? -1 : goesBefore(b, a) ? 1 : 0));
  for (const [bucket, { share, point }] of sorted.entries()) filler.addPoint(share, point, bucket);
}
