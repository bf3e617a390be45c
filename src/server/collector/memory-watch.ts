// Keeps the process near what it holds, and within its budget. The shares of the budget count what their owners hold; the
// runtime adds bodies that are garbage and not collected yet, and what is kept to be used again. How much that is only the
// runtime and the system can tell, so they are asked.

import { letGoUnused } from "#base/array-pool.ts";
import { collectBeside, collectYoung } from "#base/give-back.ts";
import { Marking } from "#base/marking.ts";
import { nextTurn } from "#base/turns.ts";
import type { Strain } from "#config/memory-shares.ts";

const lookMs = 100;
/** What may pass beside the heap until the young are collected: before the runtime looks through the whole heap for it. */
const passedBytesMax = 24 * 1024 * 1024;
/** Of the budget: where a strain begins, and where it has ended. Before it is reached, for memory comes and goes by a tenth. */
const tight = { from: 7 / 8, to: 13 / 16 };
const full = { from: 29 / 32, to: 7 / 8 };
/** Of the budget: from there on the runtime looks for garbage whenever the process has grown, for it takes no notice of pools. */
const collectedShare = 3 / 4;
/** What it grows by, of the budget, and how often at most. */
const grownShare = 1 / 64;
const collectedMs = 1000;
/** Pooled memory that was not needed for so long is let go of: longer than it takes to make a plan and to store it. */
const unusedMs = 5000;

type Held = Pick<NodeJS.MemoryUsage, "rss" | "arrayBuffers">;

/** Null when the system does not say: it is asked through a file, and all that the process may open may be open. */
function readHeld(): Held | null {
  try {
    return process.memoryUsage();
  } catch {
    return null;
  }
}

export class MemoryWatch {
  /** The nearer the process is to what it may hold, the less should be kept in memory. */
  strain: Strain = "none";
  private readonly budgetBytes: number;
  private readonly read: () => Held | null;
  private readonly marking: Pick<Marking, "isUnderWay" | "close">;
  /** Of buffers, the least since the young were collected. */
  private leastBytes = Number.POSITIVE_INFINITY;
  private isInLine = false;
  private isClosed = false;
  private collectedAtMs = Number.NEGATIVE_INFINITY;
  /** The least that the process held since. */
  private leastRss = Number.POSITIVE_INFINITY;
  private readonly timers: readonly NodeJS.Timeout[];

  constructor(
    budgetBytes: number,
    read: () => Held | null = readHeld,
    marking: Pick<Marking, "isUnderWay" | "close"> = new Marking(),
  ) {
    this.budgetBytes = budgetBytes;
    this.read = read;
    this.marking = marking;
    this.timers = [setInterval(() => this.look(), lookMs).unref(), setInterval(letGoUnused, unusedMs).unref()];
  }

  look(): void {
    const held = this.read();
    if (held === null) return;
    const { rss, arrayBuffers } = held;
    this.noteStrain(rss / this.budgetBytes);
    this.leastRss = Math.min(this.leastRss, rss);
    const isGrown = rss - this.leastRss > this.budgetBytes * grownShare;
    if (isGrown && rss > this.budgetBytes * collectedShare) this.collectOld(rss);
    this.leastBytes = Math.min(this.leastBytes, arrayBuffers);
    if (arrayBuffers - this.leastBytes < passedBytesMax || this.isInLine) return;
    this.isInLine = true;
    void nextTurn().then(() => this.collect());
  }

  private noteStrain(share: number): void {
    const wasTight = this.strain !== "none";
    const isTight = share > (wasTight ? tight.to : tight.from);
    const isFull = share > (this.strain === "full" ? full.to : full.from);
    this.strain = isFull ? "full" : isTight ? "tight" : "none";
  }

  /** In a turn of its own: what a turn before it made the runtime begin is known by then. */
  private collect(): void {
    this.isInLine = false;
    if (this.marking.isUnderWay || this.isClosed) return;
    collectYoung();
    this.leastBytes = this.read()?.arrayBuffers ?? Number.POSITIVE_INFINITY;
  }

  private collectOld(rss: number): void {
    const nowMs = performance.now();
    if (this.marking.isUnderWay || nowMs - this.collectedAtMs < collectedMs) return;
    this.collectedAtMs = nowMs;
    this.leastRss = rss;
    collectBeside();
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) clearInterval(timer);
    this.marking.close();
  }
}
