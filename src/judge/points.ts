// Points on their way into memory: one at a time, or as rows of columns, which cost a fraction of an object for each.

import type { SenderNs } from "#base/clock.ts";
import type { DictColumn, Float64Column, Int64Column, NullableColumn } from "#base/columns.ts";
import type { RunMoment } from "./finding.ts";

export interface TrackPoint {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly step: bigint | null;
  readonly tsNs: SenderNs;
  readonly value: number;
}

export interface PointColumns {
  readonly key: DictColumn;
  readonly phase: DictColumn;
  readonly worker: DictColumn;
  readonly step: NullableColumn<Int64Column>;
  readonly ts_ns: Int64Column<SenderNs>;
  readonly value: NullableColumn<Float64Column>;
}

const two32 = 4294967296;
const scratch = new BigInt64Array(1);
const scratchWords = new Int32Array(scratch.buffer);

/**
 * The step and the time of a point as signed 32-bit words. Every point is compared with the one before it, and making two
 * bigints for each would be most of the work.
 */
export class Place {
  hasStep = false;
  private stepLow = 0;
  private stepHigh = 0;
  private tsLow = 0;
  private tsHigh = 0;

  set({ hasStep, stepLow, stepHigh, tsLow, tsHigh }: Place): void {
    this.hasStep = hasStep;
    this.stepLow = stepLow;
    this.stepHigh = stepHigh;
    this.tsLow = tsLow;
    this.tsHigh = tsHigh;
  }

  setRow({ step, ts_ns }: Pick<PointColumns, "step" | "ts_ns">, row: number): void {
    const { words } = step.inner;
    this.hasStep = !step.isNull(row);
    this.stepLow = (words[row * 2] as number) | 0;
    this.stepHigh = (words[row * 2 + 1] as number) | 0;
    this.tsLow = (ts_ns.words[row * 2] as number) | 0;
    this.tsHigh = (ts_ns.words[row * 2 + 1] as number) | 0;
  }

  setMoment({ step, tsNs }: RunMoment): void {
    this.hasStep = step !== null;
    scratch[0] = step ?? 0n;
    this.stepLow = scratchWords[0] as number;
    this.stepHigh = scratchWords[1] as number;
    scratch[0] = tsNs;
    this.tsLow = scratchWords[0] as number;
    this.tsHigh = scratchWords[1] as number;
  }

  setStep({ stepLow, stepHigh }: Place): void {
    this.hasStep = true;
    this.stepLow = stepLow;
    this.stepHigh = stepHigh;
  }

  setTime({ tsLow, tsHigh }: Place): void {
    this.tsLow = tsLow;
    this.tsHigh = tsHigh;
  }

  /** The nanoseconds from another place to this one, rounded beyond 53 bits. */
  nsSince({ tsLow, tsHigh }: Place): number {
    return (this.tsHigh - tsHigh) * two32 + (this.tsLow >>> 0) - (tsLow >>> 0);
  }

  /** The steps from another place to this one; both have one. */
  stepsSince({ stepLow, stepHigh }: Place): number {
    return (this.stepHigh - stepHigh) * two32 + (this.stepLow >>> 0) - (stepLow >>> 0);
  }

  isSameStep({ hasStep, stepLow, stepHigh }: Place): boolean {
    if (!this.hasStep || !hasStep) return this.hasStep === hasStep;
    return this.stepLow === stepLow && this.stepHigh === stepHigh;
  }

  /** Rounded beyond 53 bits. */
  get stepNumber(): number {
    return this.stepHigh * two32 + (this.stepLow >>> 0);
  }

  get step(): bigint {
    scratchWords[0] = this.stepLow;
    scratchWords[1] = this.stepHigh;
    return scratch[0] as bigint;
  }

  get tsNs(): SenderNs {
    scratchWords[0] = this.tsLow;
    scratchWords[1] = this.tsHigh;
    return scratch[0] as SenderNs;
  }

  toMoment(): RunMoment {
    return { step: this.hasStep ? this.step : null, tsNs: this.tsNs };
  }
}
