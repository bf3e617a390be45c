// The last steps of a worker: where it is, and how long each took.

import type { SenderNs } from "#base/clock.ts";
import type { RankWindow } from "./evidence.ts";
import { LastValues, lastValuesMax } from "./last-values.ts";
import { Place } from "./points.ts";

const firstSteps = 64;
/** The first steps of a run compile and fill caches; they say nothing about the rest. */
export const warmUpSteps = 5;
export const stepsInWindow = 10;

/** How many steps of a worker rules look back: what each took, and in windows. */
export interface StepRoom {
  readonly took: number;
  readonly windows: number;
}

export class StepTrack {
  readonly worker: string;
  count = 0;
  readonly took: LastValues;
  readonly first: number[] = [];
  /** Its last step, and the latest time that it sent. */
  private readonly place = new Place();
  // Columns rather than objects: a fleet has a million windows.
  private readonly windows: number[] = [];
  private readonly sums: number[] = [];
  private readonly counts: number[] = [];
  /** The worker measures its own steps: better than the time between two, which may include waiting for others. */
  private isTimed = false;
  private windowsMax: number;

  constructor(worker: string, place: Place, room: StepRoom) {
    this.worker = worker;
    this.took = new LastValues(Math.min(room.took, lastValuesMax));
    this.windowsMax = room.windows;
    this.place.set(place);
  }

  widen({ took, windows }: StepRoom): void {
    this.took.widen(took);
    this.windowsMax = Math.max(this.windowsMax, windows);
  }

  get step(): bigint {
    return this.place.step;
  }

  get tsNs(): SenderNs {
    return this.place.tsNs;
  }

  isAt(place: Place): boolean {
    return this.place.isSameStep(place);
  }

  /** Returns whether the step was new. */
  add(place: Place, tookNs: number | null): boolean {
    const { place: before } = this;
    const steps = place.stepsSince(before);
    if (steps <= 0 && this.count > 0) return false;
    const ns = place.nsSince(before);
    const took = tookNs ?? (this.count === 0 ? Number.NaN : ns / Math.max(1, steps));
    before.setStep(place);
    if (ns > 0) before.setTime(place);
    this.count++;
    if (!(took > 0)) return true;
    this.took.add(took);
    if (this.took.count > warmUpSteps && this.first.length < firstSteps) this.first.push(took);
    if (!this.isTimed) this.addToWindow(place, took);
    return true;
  }

  addTimed(place: Place, value: number): void {
    if (!this.isTimed) for (const column of [this.windows, this.sums, this.counts]) column.length = 0;
    this.isTimed = true;
    this.addToWindow(place, value);
  }

  private addToWindow({ stepNumber }: Place, took: number): void {
    const window = Math.trunc(stepNumber / stepsInWindow);
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
    if (windows.length > this.windowsMax) for (const column of [windows, sums, counts]) column.shift();
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
