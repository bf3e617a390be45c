// What is remembered of a watched run: the last points of each series, the last steps of each worker. The memory of one
// run is bounded, and a new point costs the same however long the run is. To try a rule on the past, feed it a stored
// run, oldest first.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { SparseMap } from "#base/sparse-map.ts";
import type { RunMoment } from "./finding.ts";
import { LastValues, lastValuesMax } from "./last-values.ts";
import { isStepTime } from "./names.ts";
import { Place, type PointColumns, type TrackPoint } from "./points.ts";
import { Smoothed } from "./statistics.ts";
import { type StepRoom, StepTrack } from "./step-track.ts";

/** One step of a worker: when it ended and, if known, how long it took. */
export interface TrackStep {
  readonly worker: string;
  readonly step: bigint;
  readonly tsNs: SenderNs;
  readonly tookNs: number | null;
}

const seriesMax = 256;
const workersMax = 1024;
const smoothedOver = 20;

/** How many values of a series rules look back: as they came, and smoothed. */
export interface SeriesRoom {
  readonly values: number;
  readonly smoothed: number;
}

/** How much of a run rules look back at. */
export interface TrackRoom {
  readonly steps: StepRoom;
  /** Of a series, by its key. */
  ofSeries(key: string): SeriesRoom;
}

/** As much as any rule may look back at. */
const roomMost: TrackRoom = {
  steps: { took: lastValuesMax, windows: lastValuesMax },
  ofSeries: () => ({ values: lastValuesMax, smoothed: lastValuesMax }),
};

export class SeriesTrack {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  /** How long a step took, as the worker measured it. */
  readonly isStepTime: boolean;
  /** The series whose point followed the last one of this series: most likely it does again. */
  follower: SeriesTrack | undefined;
  readonly finite: LastValues;
  /** The smoothed values of `finite`. */
  readonly smoothed: LastValues;
  /** The longest sequence of non-finite values since it was last asked for, and where it began. */
  private worst: { count: number; from: RunMoment } | null = null;
  private row: { count: number; from: RunMoment } | null = null;
  /** The least smoothed value, and where it was. */
  private bestValue = Number.NaN;
  private readonly bestPlace = new Place();
  /** Null before the first point. */
  private lastPlace: Place | null = null;
  /** Finite points since the last look. */
  fresh = 0;
  private readonly mean = new Smoothed(smoothedOver);

  constructor(key: string, phase: string, worker: string, room: SeriesRoom) {
    this.key = key;
    this.phase = phase;
    this.worker = worker;
    this.isStepTime = isStepTime(key);
    this.finite = new LastValues(Math.min(room.values, lastValuesMax));
    this.smoothed = new LastValues(Math.min(room.smoothed, lastValuesMax));
  }

  widen({ values, smoothed }: SeriesRoom): void {
    this.finite.widen(values);
    this.smoothed.widen(smoothed);
  }

  isOf(key: string, phase: string, worker: string): boolean {
    return key === this.key && phase === this.phase && worker === this.worker;
  }

  get last(): RunMoment | null {
    return this.lastPlace?.toMoment() ?? null;
  }

  get best(): { readonly value: number; readonly place: RunMoment } | null {
    return Number.isNaN(this.bestValue) ? null : { value: this.bestValue, place: this.bestPlace.toMoment() };
  }

  add(place: Place, value: number): void {
    const { lastPlace: last } = this;
    // Skips late and known points: a run is read from the store while it goes on.
    if (last !== null) {
      const ns = place.nsSince(last);
      if (ns < 0 || (ns === 0 && place.isSameStep(last))) return;
      last.set(place);
    } else {
      this.lastPlace = new Place();
      this.lastPlace.set(place);
    }
    if (!Number.isFinite(value)) {
      this.row = { count: (this.row?.count ?? 0) + 1, from: this.row?.from ?? place.toMoment() };
      if (this.worst === null || this.row.count > this.worst.count) this.worst = this.row;
      return;
    }
    this.row = null;
    this.finite.add(value);
    this.fresh++;
    const smooth = this.mean.add(value);
    this.smoothed.add(smooth);
    if (this.finite.count > smoothedOver && (Number.isNaN(this.bestValue) || smooth < this.bestValue)) {
      this.bestValue = smooth;
      this.bestPlace.set(place);
    }
  }

  get nonfinite(): { readonly count: number; readonly from: RunMoment } | null {
    return this.worst;
  }

  /** Takes over the longest sequence of non-finite values that another track of the same series saw, if it is longer. */
  noteNonfinite({ worst }: SeriesTrack): void {
    if (worst !== null && worst.count > (this.worst?.count ?? 0)) this.worst = worst;
  }

  /** Forgets what was reported: only what continues or recurs counts from now on. */
  looked(): void {
    this.fresh = 0;
    this.worst = this.row;
  }
}

/** The place of the point that is being added. Shared, so that no point needs an object for it. */
const place = new Place();

export class RunTrack {
  private readonly room: () => TrackRoom;
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
  /** The series of the last point. The next point is often of the same series, or of the one that followed it before. */
  private lastSeries: SeriesTrack | undefined;
  /** The worker whose step came last; most likely its next step comes next. */
  private lastStepped: StepTrack | undefined;

  /** `room` says how much is worth remembering now. */
  constructor(room: () => TrackRoom = () => roomMost) {
    this.room = room;
  }

  /** Rules have changed, and may look further back. */
  widen(): void {
    const room = this.room();
    for (const series of this.series.values()) series.widen(room.ofSeries(series.key));
    for (const steps of this.steps.values()) steps.widen(room.steps);
  }

  addPoint(point: TrackPoint, receivedNs: ServerNs): void {
    this.firstNs ??= point.tsNs;
    const series = this.seriesOf(point.key, point.phase, point.worker);
    if (series === undefined) return;
    place.setMoment(point);
    this.addTo(series, point.value, receivedNs);
  }

  /** Rows [from, to), all of them points of one series with a value. */
  addPoints(rows: PointColumns, from: number, to: number, receivedNs: ServerNs): void {
    this.firstNs ??= rows.ts_ns.at(from);
    const series = this.seriesOf(rows.key.at(from), rows.phase.at(from), rows.worker.at(from));
    if (series === undefined) return;
    const { values } = rows.value.inner;
    for (let row = from; row < to; row++) {
      place.setRow(rows, row);
      this.addTo(series, values[row] as number, receivedNs);
    }
  }

  /** A point at `place`. */
  private addTo(series: SeriesTrack, value: number, receivedNs: ServerNs): void {
    series.add(place, value);
    if (!place.hasStep) return;
    const { worker } = series;
    // All metrics of a step agree on it.
    const { lastStepped } = this;
    if (lastStepped?.worker !== worker || !lastStepped.isAt(place)) this.addStepAt(worker, null, receivedNs);
    if (series.isStepTime && value > 0) this.steps.get(worker)?.addTimed(place, value);
  }

  /** Undefined beyond the number of series that are remembered. */
  private seriesOf(key: string, phase: string, worker: string): SeriesTrack | undefined {
    const { lastSeries: last } = this;
    if (last?.follower?.isOf(key, phase, worker)) {
      this.lastSeries = last.follower;
      return last.follower;
    }
    if (last?.isOf(key, phase, worker)) return last;
    const id = `${key}\n${phase}\n${worker}`;
    let series = this.series.get(id);
    if (series === undefined) {
      if (this.series.size >= seriesMax) return undefined;
      series = new SeriesTrack(key, phase, worker, this.room().ofSeries(key));
      this.series.set(id, series);
    }
    if (last !== undefined) last.follower = series;
    this.lastSeries = series;
    return series;
  }

  addStep(step: TrackStep, receivedNs: ServerNs): void {
    this.firstNs ??= step.tsNs;
    const tookNs = step.tookNs === null ? null : Math.max(1, step.tookNs - this.takeWait(step.worker));
    place.setMoment(step);
    this.addStepAt(step.worker, tookNs, receivedNs);
  }

  /** A step at `place`. */
  private addStepAt(worker: string, tookNs: number | null, receivedNs: ServerNs): void {
    const { lastStepped } = this;
    let track = lastStepped?.worker === worker ? lastStepped : this.steps.get(worker);
    if (track === undefined) {
      if (this.steps.size >= workersMax) return;
      track = new StepTrack(worker, place, this.room().steps);
      this.steps.set(worker, track);
    }
    this.lastStepped = track;
    if (track.add(place, tookNs)) this.steppedNs = receivedNs;
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

  /** Takes over what another track of the same run saw of non-finite values. */
  noteNonfinite({ series }: RunTrack): void {
    for (const [id, other] of series) this.series.get(id)?.noteNonfinite(other);
  }

  /** Called once every rule has looked at the new points. */
  looked(): void {
    for (const series of this.series.values()) series.looked();
  }
}
