// Work that is done in slices, in turns, so that sockets are read in between. Decoding is slower than reading: done as
// bytes come, it would leave bytes in the kernel, and a sender that cannot wait would meet a full buffer.
//
// Small work waits for more of its kind, unless none was done lately. Otherwise a thousand workers that send an event
// from time to time would make a journal record of every few events, which costs many times what the events do.

export interface Worker {
  /** Does a small piece of work; returns whether there is more to do now. */
  work(): boolean;
  /** It did its part of a round, and the next round is far off. Returns whether its socket is left alone until then. */
  rest(): boolean;
  /** The next round begins: read what came meanwhile, in one go. */
  wake(): void;
  /** Take what was read. */
  collect(): void;
  /** It no longer rests: read its socket as bytes come. */
  rise(): void;
}

const sliceMs = 4;
/** The least time between two rounds of small work: short for a person, long for a sync of the disk. */
const paceMsMin = 25;
/**
 * The time grows with the number of workers that had something to do in the last round. Each worker of a fleet then
 * brings several events at a time, which cost hardly more than one. The writer waits for one more round, so the longest
 * time is less than half of the second within which a point must be queryable.
 */
const paceMsOfEach = 0.5;
const paceMsMax = 400;
/** Waking a worker costs as much as a piece or two, so it rests only if that many come in this time. */
const restMsMin = 100;

export class Turns {
  private readonly ready = new Set<Worker>();
  private readonly small = new Set<Worker>();
  /** Workers of the last round that have not done their part yet and may rest then. */
  private readonly tiring = new Set<Worker>();
  private readonly resting = new Set<Worker>();
  /** Workers that were woken, until they rest again or rise. */
  private readonly woken = new Set<Worker>();
  private isRunning = false;
  private lastRoundMs = Number.NEGATIVE_INFINITY;
  private paceMs = paceMsMin;
  private isRoundSet = false;

  add(worker: Worker): void {
    this.small.delete(worker);
    this.ready.add(worker);
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => this.run());
  }

  /** The worker has little work, and nobody waits for it. */
  addSmall(worker: Worker): void {
    this.small.add(worker);
    this.setRound();
  }

  private setRound(): void {
    if (this.isRoundSet) return;
    this.isRoundSet = true;
    const waitMs = this.lastRoundMs + this.paceMs - performance.now();
    if (waitMs > 0) setTimeout(() => this.wakeAll(), waitMs);
    // By then every socket with data is read.
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
