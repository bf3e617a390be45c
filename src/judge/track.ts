// What is remembered of a watched run: the last points of each series, the last steps of each worker. The memory of one
// run is bounded, and a new point costs the same however long the run is. To try a rule on the past, feed it a stored
// run, oldest first.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { SparseMap } from "#base/sparse-map.ts";
import type { RankWindow } from "./evidence.ts";
import type { RunMoment } from "./finding.ts";
import { isStepTime } from "./names.ts";
import { Smoothed } from "./statistics.ts";

export interface TrackPoint {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly step: bigint | null;
  readonly tsNs: SenderNs;
  readonly value: number;
}

/** One step of a worker: when it ended and, if known, how long it took. */
export interface TrackStep {
  readonly worker: string;
  readonly step: bigint;
  readonly tsNs: SenderNs;
  readonly tookNs: number | null;
}

const valuesMax = 512;
const firstRoom = 32;
const seriesMax = 256;
const workersMax = 1024;
const smoothedOver = 20;
const tookMax = 256;
const firstSteps = 64;
/** The first steps of a run compile and fill caches; they say nothing about the rest. */
export const warmUpSteps = 5;
export const stepsInWindow = 10;
/** Ranks are compared as long as the slowest is not further behind than this. */
const windowsMax = 120;

/** How many values of a series rules look back: as they came, and smoothed. */
export interface SeriesRoom {
  readonly values: number;
  readonly smoothed: number;
}

/** As many as any rule may look back. */
const roomMost: SeriesRoom = { values: valuesMax, smoothed: valuesMax };

/** The last values of something, oldest first. */
export class LastValues {
  private max: number;
  /** Grows up to `max`: most series are short. */
  private values: Float64Array;
  private next = 0;
  count = 0;
  held = 0;

  constructor(max: number) {
    this.max = max;
    this.values = new Float64Array(Math.min(max, firstRoom));
  }

  /** From now on as many are held, `valuesMax` at most. */
  widen(max: number): void {
    this.max = Math.max(this.max, Math.min(max, valuesMax));
  }

  add(value: number): void {
    if (this.held === this.values.length && this.held < this.max) this.grow();
    this.values[this.next] = value;
    this.next = (this.next + 1) % this.values.length;
    this.count++;
    if (this.held < this.values.length) this.held++;
  }

  private grow(): void {
    const wider = new Float64Array(Math.min(this.max, this.values.length * 4));
    wider.set(this.last());
    this.next = this.held;
    this.values = wider;
  }

  /** The last `count` of them, or all that are held. */
  last(count: number = this.held): Float64Array {
    const size = Math.min(count, this.held);
    const last = new Float64Array(size);
    for (let at = 0; at < size; at++) last[at] = this.fromEnd(size - 1 - at);
    return last;
  }

  isLastAbove(limit: number, count: number): boolean {
    for (let at = 0; at < count; at++) if (!(this.fromEnd(at) > limit)) return false;
    return true;
  }

  /** 0 is the newest. */
  fromEnd(at: number): number {
    return this.values[(this.next - 1 - at + 2 * this.values.length) % this.values.length] as number;
  }
}

export class SeriesTrack {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  /** How long a step took, as the worker measured it. */
  readonly isStepTime: boolean;
  /** The series whose point followed the last one of this series: most likely it does again. */
  follower: SeriesTrack | undefined;
  readonly finite: LastValues;
  /** Of `finite`, smoothed. */
  readonly smoothed: LastValues;
  /** The longest sequence of non-finite values since it was last asked for, and where it began. */
  private worst: { count: number; from: RunMoment } | null = null;
  private row: { count: number; from: RunMoment } | null = null;
  best: { readonly value: number; readonly place: RunMoment } | null = null;
  last: RunMoment | null = null;
  /** Finite points since the last look. */
  fresh = 0;
  private readonly mean = new Smoothed(smoothedOver);

  constructor({ key, phase, worker }: Pick<TrackPoint, "key" | "phase" | "worker">, room: SeriesRoom) {
    this.key = key;
    this.phase = phase;
    this.worker = worker;
    this.isStepTime = isStepTime(key);
    this.finite = new LastValues(Math.min(room.values, valuesMax));
    this.smoothed = new LastValues(Math.min(room.smoothed, valuesMax));
  }

  widen({ values, smoothed }: SeriesRoom): void {
    this.finite.widen(values);
    this.smoothed.widen(smoothed);
  }

  isOf({ key, phase, worker }: TrackPoint): boolean {
    return key === this.key && phase === this.phase && worker === this.worker;
  }

  add({ step, tsNs, value }: TrackPoint): void {
    // Skips late and known points: a run is read from the store while it goes on.
    const { last } = this;
    if (last !== null && (tsNs < last.tsNs || (tsNs === last.tsNs && step === last.step))) return;
    const place = { step, tsNs };
    this.last = place;
    if (!Number.isFinite(value)) {
      this.row = { count: (this.row?.count ?? 0) + 1, from: this.row?.from ?? place };
      if (this.worst === null || this.row.count > this.worst.count) this.worst = this.row;
      return;
    }
    this.row = null;
    this.finite.add(value);
    this.fresh++;
    const smooth = this.mean.add(value);
    this.smoothed.add(smooth);
    if (this.finite.count > smoothedOver && (this.best === null || smooth < this.best.value))
      this.best = { value: smooth, place };
  }

  get nonfinite(): { readonly count: number; readonly from: RunMoment } | null {
    return this.worst;
  }

  /** Takes over what another memory of the same series saw of non-finite values, if that is more. */
  noteNonfinite({ worst }: SeriesTrack): void {
    if (worst !== null && worst.count > (this.worst?.count ?? 0)) this.worst = worst;
  }

  /** Forgets what was reported: only what continues or recurs counts from now on. */
  looked(): void {
    this.fresh = 0;
    this.worst = this.row;
  }
}

export class StepTrack {
  readonly worker: string;
  step: bigint;
  tsNs: SenderNs;
  count = 0;
  readonly took: LastValues = new LastValues(tookMax);
  readonly first: number[] = [];
  // Side by side, not as objects: of a fleet there are a million of them.
  private readonly windows: number[] = [];
  private readonly sums: number[] = [];
  private readonly counts: number[] = [];
  /** The worker measures its own steps: better than the time between two, which may include waiting for others. */
  private isTimed = false;

  constructor({ worker, step, tsNs }: TrackStep) {
    this.worker = worker;
    this.step = step;
    this.tsNs = tsNs;
  }

  add({ step, tsNs }: TrackStep, tookNs: number | null): void {
    if (step <= this.step && this.count > 0) return;
    const took = tookNs ?? (this.count === 0 ? Number.NaN : this.perStep(step, tsNs));
    this.step = step;
    if (tsNs > this.tsNs) this.tsNs = tsNs;
    this.count++;
    if (!(took > 0)) return;
    this.took.add(took);
    if (this.took.count > warmUpSteps && this.first.length < firstSteps) this.first.push(took);
    if (!this.isTimed) this.addToWindow(step, took);
  }

  private perStep(step: bigint, tsNs: SenderNs): number {
    return Number(tsNs - this.tsNs) / Math.max(1, Number(step - this.step));
  }

  addTimed(step: bigint, value: number): void {
    if (!this.isTimed) for (const column of [this.windows, this.sums, this.counts]) column.length = 0;
    this.isTimed = true;
    this.addToWindow(step, value);
  }

  private addToWindow(step: bigint, took: number): void {
    const window = Math.trunc(Number(step) / stepsInWindow);
    const { windows, sums, counts } = this;
    const last = windows.length - 1;
    if (windows[last] === window) {
      (sums[last] as number) += took;
      (counts[last] as number)++;
      return;
    }
    windows.push(window);
    sums.push(took);
    counts.push(1);
    if (windows.length > windowsMax) for (const column of [windows, sums, counts]) column.shift();
  }

  /** Complete windows only. */
  toWindows(): RankWindow[] {
    const { worker, sums, counts } = this;
    return this.windows.slice(0, -1).map((window, at) => {
      const steps = counts[at] as number;
      return { worker, window, steps, meanNs: (sums[at] as number) / steps };
    });
  }
}

export class RunTrack {
  private readonly roomOf: (key: string) => SeriesRoom;
  readonly series: SparseMap<string, SeriesTrack> = new SparseMap();
  readonly steps: SparseMap<string, StepTrack> = new SparseMap();
  /** When anything last arrived, by this collector's clock. */
  heardNs = 0n;
  /** When a new step last arrived, likewise. */
  steppedNs = 0n;
  firstNs: SenderNs | null = null;
  checkpointNs: SenderNs | null = null;
  /** Time spent waiting for others within a worker's current step. */
  private readonly waits = new SparseMap<string, number>();
  /** The series of the last point: the next one is often of the same, or of the one that followed it before. */
  private lastSeries: SeriesTrack | undefined;
  /** The worker that told of a step last, most likely the one that does so next. */
  private lastStepped: StepTrack | undefined;

  /** `roomOf` says how many values of a series are worth remembering, by its key. */
  constructor(roomOf: (key: string) => SeriesRoom = () => roomMost) {
    this.roomOf = roomOf;
  }

  /** Rules have changed, and may look further back. */
  widen(): void {
    for (const series of this.series.values()) series.widen(this.roomOf(series.key));
  }

  addPoint(point: TrackPoint, receivedNs: ServerNs): void {
    const { step, tsNs, worker } = point;
    this.firstNs ??= tsNs;
    const series = this.seriesOf(point);
    if (series === undefined) return;
    series.add(point);
    if (step === null) return;
    // All metrics of a step agree on it.
    const { lastStepped } = this;
    if (lastStepped?.step !== step || lastStepped.worker !== worker)
      this.addStep({ worker, step, tsNs, tookNs: null }, receivedNs);
    if (series.isStepTime && point.value > 0) this.steps.get(worker)?.addTimed(step, point.value);
  }

  /** Undefined beyond the number of series that are remembered. */
  private seriesOf(point: TrackPoint): SeriesTrack | undefined {
    const { lastSeries: last } = this;
    if (last?.follower?.isOf(point)) {
      this.lastSeries = last.follower;
      return last.follower;
    }
    if (last?.isOf(point)) return last;
    const id = `${point.key}\n${point.phase}\n${point.worker}`;
    let series = this.series.get(id);
    if (series === undefined) {
      if (this.series.size >= seriesMax) return undefined;
      series = new SeriesTrack(point, this.roomOf(point.key));
      this.series.set(id, series);
    }
    if (last !== undefined) last.follower = series;
    this.lastSeries = series;
    return series;
  }

  addStep(step: TrackStep, receivedNs: ServerNs): void {
    this.firstNs ??= step.tsNs;
    const tookNs = step.tookNs === null ? null : Math.max(1, step.tookNs - this.takeWait(step.worker));
    const { lastStepped } = this;
    let track = lastStepped?.worker === step.worker ? lastStepped : this.steps.get(step.worker);
    if (track === undefined) {
      if (this.steps.size >= workersMax) return;
      track = new StepTrack(step);
      this.steps.set(step.worker, track);
    }
    this.lastStepped = track;
    if (step.step > track.step || track.count === 0) this.steppedNs = receivedNs;
    track.add(step, tookNs);
  }

  private takeWait(worker: string): number {
    const waitNs = this.waits.get(worker) ?? 0;
    if (waitNs > 0) this.waits.delete(worker);
    return waitNs;
  }

  addWait(worker: string, ns: number): void {
    this.waits.set(worker, (this.waits.get(worker) ?? 0) + ns);
  }

  addCheckpoint(tsNs: SenderNs): void {
    if (this.checkpointNs === null || tsNs > this.checkpointNs) this.checkpointNs = tsNs;
  }

  /** Takes over what another memory of the same run saw of non-finite values. */
  noteNonfinite({ series }: RunTrack): void {
    for (const [id, other] of series) this.series.get(id)?.noteNonfinite(other);
  }

  /** Called once every rule has looked at the new points. */
  looked(): void {
    for (const series of this.series.values()) series.looked();
  }
}
