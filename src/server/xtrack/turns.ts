// Work that is done a slice at a time, in turns, so that sockets are read in between. Decoding is slower than a socket:
// done as the bytes come, it would leave them in the kernel, and a sender that cannot wait would meet a full buffer.
//
// Small work waits for company, unless none was done lately: a thousand workers that send an event from time to time
// would else make a journal record of every few, which costs many times what the events do.

export interface Worker {
  /** Does a small piece, and says whether there is more to do now. */
  work(): boolean;
  /** It did its part of a round, and the next one is far: need its socket be read before? Says whether it is left alone until then. */
  rest(): boolean;
  /** The next round begins: what came meanwhile is to be read, in one go. */
  wake(): void;
  /** That has been read, and is to be collected. */
  collect(): void;
  /** It rests no longer: its socket is read as bytes come. */
  rise(): void;
}

const sliceMs = 4;
/** The least time between two rounds of small work: little beside what a person sees, much beside a sync of the disk. */
const paceMsMin = 25;
/**
 * It grows with those who had something to do in the last round: of a fleet each then brings several events at a time,
 * which cost hardly more than one. The writer waits for one round more, so that the most is less than half of the second in
 * which a point is to be queryable.
 */
const paceMsOfEach = 0.5;
const paceMsMax = 400;
/** To be woken costs a worker as much as a piece or two, which come in that time if they come often. */
const restMsMin = 100;

export class Turns {
  private readonly ready = new Set<Worker>();
  private readonly small = new Set<Worker>();
  /** Those of the last round that are still to do their part of it and may rest then. */
  private readonly tiring = new Set<Worker>();
  private readonly resting = new Set<Worker>();
  /** Those that were woken, until they rest again or rise. */
  private readonly woken = new Set<Worker>();
  private isRunning = false;
  private lastRoundMs = Number.NEGATIVE_INFINITY;
  private paceMs = paceMsMin;
  private isRoundSet = false;

  /** The worker has something to do. */
  add(worker: Worker): void {
    this.small.delete(worker);
    this.ready.add(worker);
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => this.run());
  }

  /** The worker has little to do, and nobody waits for it. */
  addSmall(worker: Worker): void {
    this.small.add(worker);
    this.setRound();
  }

  private setRound(): void {
    if (this.isRoundSet) return;
    this.isRoundSet = true;
    const waitMs = this.lastRoundMs + this.paceMs - performance.now();
    if (waitMs > 0) setTimeout(() => this.wakeAll(), waitMs);
    // By then every socket that has something is read.
    else setImmediate(() => this.wakeAll());
  }

  private wakeAll(): void {
    if (this.resting.size === 0) {
      this.beginRound();
      return;
    }
    const woken = [...this.resting];
    this.resting.clear();
    for (const worker of woken) {
      worker.wake();
      this.woken.add(worker);
    }
    // By then their sockets are read.
    setImmediate(() => {
      for (const worker of woken) worker.collect();
      this.beginRound();
    });
  }

  private beginRound(): void {
    this.isRoundSet = false;
    this.lastRoundMs = performance.now();
    this.paceMs = Math.min(paceMsMax, Math.max(paceMsMin, this.small.size * paceMsOfEach));
    for (const worker of this.small) {
      this.ready.add(worker);
      if (this.paceMs >= restMsMin) this.tiring.add(worker);
    }
    this.small.clear();
    for (const worker of this.woken) if (!this.ready.has(worker)) this.raise(worker);
    if (!this.isRunning) this.run();
  }

  private run(): void {
    const untilMs = performance.now() + sliceMs;
    for (const worker of this.ready) {
      this.ready.delete(worker);
      if (worker.work()) this.ready.add(worker);
      else if (this.tiring.delete(worker) && worker.rest()) {
        this.woken.delete(worker);
        this.resting.add(worker);
        this.setRound();
      } else if (this.woken.has(worker)) this.raise(worker);
      if (performance.now() >= untilMs) break;
    }
    this.isRunning = this.ready.size > 0;
    // An immediate that sets an immediate runs after the sockets were read.
    if (this.isRunning) setImmediate(() => this.run());
  }

  private raise(worker: Worker): void {
    this.woken.delete(worker);
    worker.rise();
  }
}
