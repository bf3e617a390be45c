// Work that is done a slice at a time, in turns, so that sockets are read in between. Decoding is slower than a socket:
// done as the bytes come, it would leave them in the kernel, and a sender that cannot wait would meet a full buffer.

export interface Worker {
  /** Does a small piece, and says whether there is more to do now. */
  work(): boolean;
}

const sliceMs = 4;

export class Turns {
  private readonly ready = new Set<Worker>();
  private isRunning = false;

  /** The worker has something to do. */
  add(worker: Worker): void {
    this.ready.add(worker);
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    const untilMs = performance.now() + sliceMs;
    for (const worker of this.ready) {
      this.ready.delete(worker);
      if (worker.work()) this.ready.add(worker);
      if (performance.now() >= untilMs) break;
    }
    this.isRunning = this.ready.size > 0;
    // An immediate that sets an immediate runs after the sockets were read.
    if (this.isRunning) setImmediate(() => this.run());
  }
}
