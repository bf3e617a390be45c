// Lanes of one purpose. A caller takes the first free one, or waits. The queue is bounded, because a caller that would
// wait behind a thousand others is better refused.

import type { SessionLane } from "./session-lane.ts";

const waitersMax = 1024;

export class LanePool {
  private readonly lanes: readonly SessionLane[];
  private readonly waiters: ((lane: SessionLane) => void)[] = [];

  constructor(lanes: readonly SessionLane[]) {
    this.lanes = lanes;
  }

  get waiting(): number {
    return this.waiters.length;
  }

  get busy(): number {
    return this.lanes.filter((lane) => lane.busy).length;
  }

  /** The caller gives the lane back with `release`, when nothing runs on it any more. */
  async acquire(signal: AbortSignal): Promise<SessionLane> {
    const free = this.lanes.find((lane) => !lane.busy);
    if (free !== undefined) {
      free.busy = true;
      return free;
    }
    if (this.waiters.length >= waitersMax) {
      throw new Error("Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)");
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiters.splice(this.waiters.indexOf(take), 1);
        reject(signal.reason);
      };
      const take = (lane: SessionLane): void => {
        signal.removeEventListener("abort", leave);
        resolve(lane);
      };
      this.waiters.push(take);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  release(lane: SessionLane): void {
    const next = this.waiters.shift();
    if (next === undefined) lane.busy = false;
    else next(lane);
  }

  close(): void {
    for (const lane of this.lanes) lane.close();
  }
}
