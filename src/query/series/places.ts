// Where points stand on an axis. Positions are 64-bit integers; they are worked with as numbers, which are exact up to
// 2 ** 53 and rounded beyond, and looked at exactly only where two numbers are equal.

import type { Axis } from "#api/contract/series.ts";
import { compare } from "#base/compare-text.ts";
import { compareWords, type Points, toWords } from "./points.ts";

/** 2 ** 32. */
const high = 4294967296;

export class PointPlaces {
  private readonly axis: Axis;
  /** The column of the axis; a relative position is `start` less. */
  private readonly exact: BigInt64Array;
  private readonly start: bigint;
  readonly words: Int32Array;
  readonly startHigh: number;
  readonly startLow: number;

  constructor(exact: BigInt64Array, start: bigint, axis: Axis) {
    this.axis = axis;
    this.exact = exact;
    this.start = start;
    this.words = toWords(exact);
    this.startHigh = Number(start >> 32n);
    this.startLow = Number(start & 0xffffffffn);
  }

  /** Where other points of the same series stand. */
  of(points: Points): PointPlaces {
    return toPlaces(points, this.axis, this.start) as PointPlaces;
  }

  /** As a number, correctly rounded. */
  numberAt(point: number): number {
    const { words } = this;
    return (
      ((words[point * 2 + 1] as number) - this.startHigh) * high +
      (((words[point * 2] as number) >>> 0) - this.startLow)
    );
  }

  exactAt(point: number): bigint {
    return (this.exact[point] as bigint) - this.start;
  }

  compare(point: number, others: PointPlaces, other: number): number {
    const difference = this.numberAt(point) - others.numberAt(other);
    if (difference !== 0) return difference;
    if (this.exact === others.exact) return compareWords(this.words, point, other);
    return compare(this.exactAt(point), others.exactAt(other));
  }
}

/** Null when the points have no such column. `start` is the origin of a relative axis. */
export function toPlaces(points: Points, axis: Axis, start: bigint): PointPlaces | null {
  if (axis === "step") return new PointPlaces(points.step, 0n, axis);
  if (axis === "epoch") return points.epoch === null ? null : new PointPlaces(points.epoch, 0n, axis);
  return new PointPlaces(points.tsNs, axis === "relative" ? start : 0n, axis);
}

/** `values[i] - base` as a number, correctly rounded, by the halves of the column. */
export function offsetAt(words: Int32Array, point: number, baseHigh: number, baseLow: number): number {
  return ((words[point * 2 + 1] as number) - baseHigh) * high + (((words[point * 2] as number) >>> 0) - baseLow);
}
