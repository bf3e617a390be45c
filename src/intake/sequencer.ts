// Inputs in, in journal order, exactly once. An input is decoded, made durable, then applied to the state;
// the answer is given after that. Nothing is applied before it is durable: a row whose journal write failed
// must not be known, or its retry would be taken for a duplicate and lost.
//
// When the writer has no room, inputs are still accepted: they wait in the journal, not in memory, and the
// sequencer reads them from there once there is room. Starting after a crash is the same thing.

import type { Batch } from "#model/batch.ts";
import type { Applied } from "./applied.ts";
import { decodeInput, encodeInput, type Input } from "./input.ts";

/** The part of the journal that intake uses. */
export interface InputLog {
  /** Resolves with the record's number once it is durable, or says that there is no room. */
  append(parts: readonly Uint8Array[]): Promise<number> | "memory_full" | "disk_full";
  replay(from: number): AsyncIterable<{ readonly position: number; readonly payload: Uint8Array }>;
}

/** Where applied inputs go. */
export interface BatchSink {
  add(batch: Batch): void;
  hasRoom(): boolean;
  /** Resolves when there is room again. */
  room(): Promise<void>;
}

/** Turns inputs into rows. `decode` is pure; `apply` changes the state. */
export interface Applier {
  decode(input: Input): unknown;
  /** May first have to look up identities in the store; null when it need not. */
  prepare(input: Input, decoded: unknown): Promise<void> | null;
  apply(position: number, input: Input, decoded: unknown): Applied;
}

export interface Receipt {
  readonly position: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: Applied["faults"];
}

export interface AppliedInput {
  readonly position: number;
  readonly input: Input;
  readonly applied: Applied;
}

interface Entry {
  readonly position: number;
  readonly input: Input;
  readonly decoded: unknown;
  readonly settle: (receipt: Receipt) => void;
  /** What was begun for it when it came. */
  readonly preparing?: Promise<void>;
}

/** While behind, this much input is held in memory; of the rest only the promise of an answer is. */
const heldBytesMax = 64 * 1024 * 1024;

export class Sequencer {
  private readonly log: InputLog;
  private readonly sink: BatchSink;
  private readonly applier: Applier;
  private readonly hooks: { onApplied: (applied: AppliedInput) => void; onFatal: (cause: unknown) => void };
  /** The last position that was applied. */
  private applied: number;
  /** The last position known to be durable. */
  private durable: number;
  private readonly held = new Map<number, Entry>();
  private heldBytes = 0;
  /** Answers to inputs that will be read back from the journal. */
  private readonly unanswered = new Map<number, Entry["settle"]>();
  private catchingUp: Promise<void> | null = null;

  constructor(
    log: InputLog,
    sink: BatchSink,
    applier: Applier,
    start: { applied: number; durable: number },
    hooks: { onApplied: (applied: AppliedInput) => void; onFatal: (cause: unknown) => void },
  ) {
    this.log = log;
    this.sink = sink;
    this.applier = applier;
    this.applied = start.applied;
    this.durable = start.durable;
    this.hooks = hooks;
  }

  get position(): { applied: number; durable: number } {
    return { applied: this.applied, durable: this.durable };
  }

  /** Applies what the journal holds beyond the start position; to be awaited before the first `submit`. */
  async recover(): Promise<void> {
    if (this.durable > this.applied) await this.startCatchUp();
  }

  /** `decoded` is what the applier made of the input when the caller has looked at it before. */
  submit(input: Input, decoded: unknown = this.applier.decode(input)): Submitted {
    const appended = this.log.append(encodeInput(input));
    if (appended === "memory_full" || appended === "disk_full") return appended;
    const applied = Promise.withResolvers<Receipt>();
    const durable = appended.then((position) => {
      this.arrive({ position, input, decoded, settle: applied.resolve });
      return position;
    });
    durable.catch(applied.reject);
    return { durable, applied: applied.promise };
  }

  /** Resolves when everything durable now has been applied. */
  async drained(): Promise<void> {
    while (this.applied < this.durable) await (this.catchingUp ?? this.startCatchUp());
  }

  private arrive(entry: Entry): void {
    this.durable = Math.max(this.durable, entry.position);
    const isNext = entry.position === this.applied + 1;
    if (isNext && this.catchingUp === null && this.sink.hasRoom()) {
      const preparing = this.applier.prepare(entry.input, entry.decoded);
      if (preparing === null) {
        this.applyNow(entry);
        return;
      }
      // Whoever catches up waits for it, and hears of its failure.
      preparing.catch(ignore);
      this.hold({ ...entry, preparing });
    } else this.hold(entry);
    if (this.catchingUp === null) void this.startCatchUp();
  }

  private startCatchUp(): Promise<void> {
    const running = this.catchUp().finally(() => {
      this.catchingUp = null;
    });
    this.catchingUp = running;
    running.catch(this.hooks.onFatal);
    return running;
  }

  private hold(entry: Entry): void {
    const size = entry.input.body.length;
    if (this.heldBytes + size > heldBytesMax) {
      this.unanswered.set(entry.position, entry.settle);
      return;
    }
    this.heldBytes += size;
    this.held.set(entry.position, entry);
  }

  private async catchUp(): Promise<void> {
    while (this.applied < this.durable) {
      await this.sink.room();
      const next = this.held.get(this.applied + 1);
      if (next === undefined) {
        await this.replayUntilHeld();
        continue;
      }
      this.held.delete(next.position);
      this.heldBytes -= next.input.body.length;
      await next.preparing;
      // What was prepared may be gone again when something else happened while it was waited for.
      await this.applier.prepare(next.input, next.decoded);
      this.applyNow(next);
    }
  }

  /** Reads records whose input is no longer in memory, until one is met that still is. */
  private async replayUntilHeld(): Promise<void> {
    const until = this.durable;
    for await (const { position, payload } of this.log.replay(this.applied + 1)) {
      if (position > until || this.held.has(position)) {
        // Positions in between were corrupt and are counted by the journal.
        this.applied = Math.max(this.applied, Math.min(position - 1, until));
        return;
      }
      const input = decodeInput(payload);
      if (input === null) {
        this.applied = position;
        continue;
      }
      const decoded = this.applier.decode(input);
      await this.applier.prepare(input, decoded);
      await this.sink.room();
      const settle = this.unanswered.get(position) ?? ignore;
      this.unanswered.delete(position);
      this.applyNow({ position, input, decoded, settle });
    }
    this.applied = Math.max(this.applied, until);
  }

  private applyNow(entry: Entry): void {
    const { position, input } = entry;
    const applied = this.applier.apply(position, input, entry.decoded);
    this.applied = position;
    this.sink.add({ position, parts: applied.parts, state: applied.state, bytes: input.body.length });
    this.hooks.onApplied({ position, input, applied });
    const { accepted, duplicates, faults } = applied;
    entry.settle({ position, accepted, duplicates, faults });
  }
}

export type Submitted =
  | "memory_full"
  | "disk_full"
  | {
      /** The bytes are safe. */
      readonly durable: Promise<number>;
      /** The rows are known and on their way to the store. */
      readonly applied: Promise<Receipt>;
    };

function ignore(): void {}
