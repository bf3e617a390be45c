// Buckets while points are put into them, in any order.

import { pointFlags } from "#store/reader/points.ts";
import { isBefore, pointAt, type Share } from "./choose.ts";
import { type BucketOptions, positionOf, type SeriesOutline } from "./outline.ts";
import { offsetAt, type PointPlaces } from "./places.ts";
import { copyPoints, toWords } from "./points.ts";

/** Element i of each is bucket i, of those that have points. */
export class BucketColumns {
  readonly x: number[] = [];
  readonly xLast: number[] = [];
  readonly t: number[] = [];
  readonly tLast: number[] = [];
  readonly count: number[] = [];
  /** Null where the point is not a number. */
  readonly first: (number | null)[] = [];
  readonly last: (number | null)[] = [];
  /** Null where the bucket has no finite point. */
  readonly min: (number | null)[] = [];
  readonly max: (number | null)[] = [];
  readonly mean: (number | null)[] = [];
  readonly nan: number[] = [];
  readonly posInf: number[] = [];
  readonly negInf: number[] = [];
}

interface EvenParts {
  readonly low: number;
  readonly width: number;
}

/** Any number of values up to this can be added up without overflow. Larger ones are scaled by `partOfLarge` first. */
const addedMax = 2 ** 990;
const partOfLarge = 2 ** -64;

export class BucketFiller {
  /** The shares that a bucket's first or last point may belong to. */
  private shares: Share[] = [];
  private readonly size: number;
  private readonly parts: EvenParts;
  private readonly bucketOfPosition: ReadonlyMap<number | bigint, number> | null;
  private readonly count: Uint32Array;
  private readonly firstShare: Int32Array;
  private readonly firstPoint: Uint32Array;
  private readonly lastShare: Int32Array;
  private readonly lastPoint: Uint32Array;
  private readonly min: Float64Array;
  private readonly max: Float64Array;
  private readonly sum: Float64Array;
  /** Of the few buckets that have values too large to be added up. */
  private readonly largeSum = new Map<number, number>();
  private readonly finite: Uint32Array;
  private readonly nan: Uint32Array;
  private readonly posInf: Uint32Array;
  private readonly negInf: Uint32Array;

  constructor(outline: SeriesOutline, { buckets }: BucketOptions) {
    const [low, high] = [Number(outline.low), Number(outline.high)];
    this.parts = { low, width: Math.max(high - low + 1, 1) };
    this.bucketOfPosition = outline.toPositionBuckets();
    this.size = outline.isExact ? outline.points : (this.bucketOfPosition?.size ?? buckets);
    const { size } = this;
    this.count = new Uint32Array(size);
    this.firstShare = new Int32Array(size);
    this.firstPoint = new Uint32Array(size);
    this.lastShare = new Int32Array(size);
    this.lastPoint = new Uint32Array(size);
    this.min = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
    this.max = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
    this.sum = new Float64Array(size);
    this.finite = new Uint32Array(size);
    this.nan = new Uint32Array(size);
    this.posInf = new Uint32Array(size);
    this.negInf = new Uint32Array(size);
  }

  /** All points of a share, each into the bucket of its position. */
  add(share: Share): void {
    const number = this.numberOf(share);
    const { bucketOfPosition } = this;
    if (bucketOfPosition === null) this.takeEvenly(number, share);
    else
      for (let i = 0; i < share.count; i++) {
        const point = pointAt(share, i);
        const bucket = bucketOfPosition.get(positionOf(share, point));
        // A position that came after the outline was taken has none.
        if (bucket !== undefined) this.take(number, point, bucket);
      }
  }

  addPoint(share: Share, point: number, bucket: number): void {
    this.take(this.numberOf(share), point, bucket);
  }

  /** Lets go of the shares, keeping copies of the points that are the first or last of a bucket. */
  detach(): void {
    const refs: { readonly share: Share; readonly point: number }[] = [];
    for (let bucket = 0; bucket < this.size; bucket++) {
      if (this.count[bucket] === 0) continue;
      const first = this.shares[this.firstShare[bucket] as number] as Share;
      const last = this.shares[this.lastShare[bucket] as number] as Share;
      const point = refs.push({ share: first, point: this.firstPoint[bucket] as number }) - 1;
      refs.push({ share: last, point: this.lastPoint[bucket] as number });
      this.firstShare[bucket] = 0;
      this.lastShare[bucket] = 0;
      this.firstPoint[bucket] = point;
      this.lastPoint[bucket] = point + 1;
    }
    const [some] = refs;
    if (some === undefined) this.shares = [];
    else {
      const points = copyPoints(refs.map(({ share, point }) => ({ points: share.points, point })));
      this.shares = [{ points, places: some.share.places.of(points), count: refs.length, at: null, from: 0 }];
    }
  }

  private numberOf(share: Share): number {
    const known = this.shares.indexOf(share);
    return known >= 0 ? known : this.shares.push(share) - 1;
  }

  /** Into even parts of the range from the lowest to the highest position. */
  private takeEvenly(number: number, share: Share): void {
    const { low, width } = this.parts;
    const { count, places } = share;
    for (let i = 0; i < count; ) {
      const point = pointAt(share, i);
      const part = Math.floor(((places.numberAt(point) - low) / width) * this.size);
      const bucket = Math.max(0, Math.min(part, this.size - 1));
      this.take(number, point, bucket);
      i = this.takeStretch(number, i + 1, bucket);
    }
  }

  /**
   * Takes points from the i-th on as long as they fall into one bucket, in ascending order and with finite values. A million
   * points go through here, so nothing is called and the bucket's numbers stay in variables. Returns where it stopped.
   */
  private takeStretch(number: number, start: number, bucket: number): number {
    const { low, width } = this.parts;
    const { at, from, count, places, points } = this.shares[number] as Share;
    // Behind another share's last point there may be more than positions to compare.
    if (this.lastShare[bucket] !== number) return start;
    const { words, startHigh, startLow } = places;
    const { flags, value: values } = points;
    const { size } = this;
    const { noValue } = pointFlags;
    let lastPoint = this.lastPoint[bucket] as number;
    let last = places.numberAt(lastPoint);
    let least = this.min[bucket] as number;
    let most = this.max[bucket] as number;
    let total = this.sum[bucket] as number;
    let i = start;
    for (; i < count; i++) {
      const point = at === null ? from + i : (at[i] as number);
      const x = offsetAt(words, point, startHigh, startLow);
      const value = values[point] as number;
      // No position is below the lowest, so cutting off is rounding down.
      const part = (((x - low) / width) * size) | 0;
      if ((part < size ? part : size - 1) !== bucket || x < last) break;
      // Of points at one position the later one is the last, unless rounding made the positions equal.
      if (x === last && Math.abs(x) > Number.MAX_SAFE_INTEGER) break;
      // Nor is what is not finite.
      if (!(Math.abs(value) <= addedMax) || ((flags[point] as number) & noValue) !== 0) break;
      last = x;
      lastPoint = point;
      if (value < least) least = value;
      if (value > most) most = value;
      total += value;
    }
    this.lastPoint[bucket] = lastPoint;
    this.min[bucket] = least;
    this.max[bucket] = most;
    this.sum[bucket] = total;
    this.finite[bucket] = (this.finite[bucket] as number) + i - start;
    this.count[bucket] = (this.count[bucket] as number) + i - start;
    return i;
  }

  private take(number: number, point: number, bucket: number): void {
    const share = this.shares[number] as Share;
    if (this.count[bucket] === 0) this.begin(number, point, bucket);
    else this.place(share, number, point, bucket);
    this.count[bucket] = (this.count[bucket] as number) + 1;
    this.takeValue(share.points.flags, share.points.value, point, bucket);
  }

  private begin(number: number, point: number, bucket: number): void {
    this.firstShare[bucket] = number;
    this.firstPoint[bucket] = point;
    this.lastShare[bucket] = number;
    this.lastPoint[bucket] = point;
  }

  private takeValue(flags: Uint8Array, values: Float64Array, point: number, bucket: number): void {
    if (((flags[point] as number) & pointFlags.noValue) !== 0) return;
    const value = values[point] as number;
    // What is not finite leaves something when it is taken from itself.
    if (value - value !== 0) {
      this.takeOdd(value, bucket);
      return;
    }
    if (value < (this.min[bucket] as number)) this.min[bucket] = value;
    if (value > (this.max[bucket] as number)) this.max[bucket] = value;
    if (Math.abs(value) <= addedMax) this.sum[bucket] = (this.sum[bucket] as number) + value;
    else this.largeSum.set(bucket, (this.largeSum.get(bucket) ?? 0) + value * partOfLarge);
    this.finite[bucket] = (this.finite[bucket] as number) + 1;
  }

  private place(share: Share, number: number, point: number, bucket: number): void {
    const last = this.shares[this.lastShare[bucket] as number] as Share;
    if (isBefore(last, this.lastPoint[bucket] as number, share, point)) {
      this.lastShare[bucket] = number;
      this.lastPoint[bucket] = point;
      return;
    }
    const first = this.shares[this.firstShare[bucket] as number] as Share;
    if (isBefore(share, point, first, this.firstPoint[bucket] as number)) {
      this.firstShare[bucket] = number;
      this.firstPoint[bucket] = point;
    }
  }

  private takeOdd(value: number, bucket: number): void {
    const counts = Number.isNaN(value) ? this.nan : value > 0 ? this.posInf : this.negInf;
    counts[bucket] = (counts[bucket] as number) + 1;
  }

  private meanOf(bucket: number, finite: number): number {
    const mean = (this.sum[bucket] as number) / finite;
    const large = this.largeSum.get(bucket);
    if (large === undefined) return mean;
    // Rounding must not carry the mean of the greatest doubles beyond them.
    const whole = large / finite / partOfLarge + mean;
    return Math.max(this.min[bucket] as number, Math.min(whole, this.max[bucket] as number));
  }

  finish(xBase: bigint, tBase: bigint): BucketColumns {
    const columns = new BucketColumns();
    const base = { x: halves(xBase), t: halves(tBase) };
    for (let bucket = 0; bucket < this.size; bucket++) {
      if (this.count[bucket] === 0) continue;
      const first = this.shares[this.firstShare[bucket] as number] as Share;
      const last = this.shares[this.lastShare[bucket] as number] as Share;
      const firstPoint = this.firstPoint[bucket] as number;
      const lastPoint = this.lastPoint[bucket] as number;
      columns.x.push(positionAt(first.places, firstPoint, base.x));
      columns.xLast.push(positionAt(last.places, lastPoint, base.x));
      columns.t.push(offsetAt(toWords(first.points.tsNs), firstPoint, base.t.high, base.t.low));
      columns.tLast.push(offsetAt(toWords(last.points.tsNs), lastPoint, base.t.high, base.t.low));
      columns.count.push(this.count[bucket] as number);
      columns.first.push(toValue(first, firstPoint));
      columns.last.push(toValue(last, lastPoint));
      const finite = this.finite[bucket] as number;
      columns.min.push(finite === 0 ? null : (this.min[bucket] as number));
      columns.max.push(finite === 0 ? null : (this.max[bucket] as number));
      columns.mean.push(finite === 0 ? null : this.meanOf(bucket, finite));
      columns.nan.push(this.nan[bucket] as number);
      columns.posInf.push(this.posInf[bucket] as number);
      columns.negInf.push(this.negInf[bucket] as number);
    }
    return columns;
  }
}

interface Halves {
  readonly high: number;
  readonly low: number;
}

function halves(value: bigint): Halves {
  return { high: Number(value >> 32n), low: Number(value & 0xffffffffn) };
}

function positionAt({ words, startHigh, startLow }: PointPlaces, point: number, base: Halves): number {
  return offsetAt(words, point, base.high + startHigh, base.low + startLow);
}

function toValue({ points }: Share, point: number): number | null {
  return ((points.flags[point] as number) & pointFlags.noValue) === 0 ? (points.value[point] as number) : null;
}
