// Inputs in, in journal order, exactly once. An input is decoded, made durable, then applied to the state;
// the answer is given after that. Nothing is applied before it is durable: a row whose journal write failed
// must not be known, or its retry would be taken for a duplicate and lost.
//
// When the writer has no room, inputs are still accepted: they wait in the journal, not in memory, and the
// sequencer reads them from there once there is room. A start after a crash works the same way.
//
// An input may need something from the store before it can be applied. If that takes long, the input is put off: a copy of it
// is appended to the journal, and those behind it go on. After a crash the copy counts only if the store has got past the
// original; otherwise the original is read again.
//
// A record that cannot be applied stops nobody: the collector gives something to apply in its place, or has it tried again
// once the state, which it may have half changed, is right.

import assert from "node:assert/strict";
import { nextTurn, RoundShare, Turn } from "#base/turns.ts";
import type { Batch } from "#model/batch.ts";
import type { Applied } from "./applied.ts";
import { attempt, toFailure, toThrown } from "./apply-failure.ts";
import { type AppliedInput, Gathering } from "./gathering.ts";
import { type Entry, HeldInputs, type Waiting } from "./held-inputs.ts";
import { encodeInput, type Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import { replay } from "./replay.ts";
import { Waits } from "./waits.ts";

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
  decode(input: Input): Decoded;
  /** The same for a record that is read back from the journal; a promise for one that takes long. */
  decodeAgain(position: number, input: Input): Decoded | Promise<Decoded>;
  /** Looks up what is needed in the store; null when that is nothing. */
  prepare(input: Input, decoded: Decoded): Promise<void> | null;
  /** Looks up, in one go, what the next inputs need. */
  foresee?(entries: readonly { readonly input: Input; readonly decoded: Decoded }[]): Promise<void>;
  apply(position: number, input: Input, decoded: Decoded): Applied;
  /** Applies an input that takes long, in turns with other work; nothing else is applied meanwhile. */
  applyInTurns(position: number, input: Input, decoded: Decoded): Promise<Applied>;
}

export interface Receipt {
  /** The last journal record that holds any of it. */
  readonly position: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: Applied["faults"];
}

/** A record that could not be applied. */
export interface FailedInput {
  readonly position: number;
  readonly input: Input;
  readonly cause: unknown;
  /** How often it has failed. */
  readonly tries: number;
}

export interface SequencerHooks {
  onApplied(applied: AppliedInput): void;
  /**
   * Puts the state right and resolves with what is applied in place of the record, or with null when the record is to be tried
   * again. Rejects when nothing can be done here.
   */
  onFailed(failed: FailedInput): Promise<Applied | null>;
  onFatal(cause: unknown): void;
}

export class Sequencer {
  private readonly log: InputLog;
  private readonly sink: BatchSink;
  private readonly applier: Applier;
  private readonly hooks: SequencerHooks;
  /** What was applied and is about to be passed on. */
  private readonly gathering: Gathering;
  /** The last position that was applied. */
  private applied: number;
  /** Callers that wait for a position to be applied. */
  private awaited: { readonly position: number; resolve(): void }[] = [];
  /** The last position known to be durable. */
  private durable: number;
  /** Records up to here were applied before this process. */
  private readonly startedAt: number;
  private readonly held = new HeldInputs();
  /** The size of inputs on their way to the disk. */
  private flyingBytes = 0;
  /** Limits how much is applied as soon as it is durable; the rest of a large group waits for its turn. */
  private readonly share = new RoundShare();
  /** Positions of copies that this process made and has not applied yet. */
  private readonly copies = new Set<number>();
  private catchingUp: Promise<void> | null = null;
  private readonly waits = new Waits();
  /** Records up to here are read ahead of their turn. */
  private aheadTo = 0;

  constructor(
    log: InputLog,
    sink: BatchSink,
    applier: Applier,
    start: { applied: number; durable: number },
    hooks: SequencerHooks,
  ) {
    this.log = log;
    this.sink = sink;
    this.applier = applier;
    this.applied = start.applied;
    this.startedAt = start.applied;
    this.durable = start.durable;
    this.hooks = hooks;
    this.gathering = new Gathering({
      onApplied(applied) {
        sink.add(applied.batch);
        hooks.onApplied(applied);
      },
      onFatal: hooks.onFatal,
    });
  }

  get position(): { applied: number; durable: number } {
    return { applied: this.applied, durable: this.durable };
  }

  /** The size of bodies that wait here decoded. While the store takes no rows they do not count: the journal has them. */
  get backlogBytes(): number {
    return this.flyingBytes + (this.sink.hasRoom() ? this.held.bytes : 0);
  }

  /** Resolves when what the journal holds now beyond the start position is applied. */
  async recover(): Promise<void> {
    const until = this.durable;
    this.aheadTo = until;
    // A submitted input may have started it.
    while (this.applied < until) await (this.catchingUp ?? this.startCatchUp());
    this.aheadTo = 0;
  }

  /** Whether an input of so many bytes would wait decoded. Otherwise it is read back, and need not be decoded before. */
  holdsDecoded(bytes: number): boolean {
    return this.held.hasRoom(this.flyingBytes + bytes);
  }

  /**
   * `given` is the decoded input, if the caller has decoded it already; null if it is to be decoded when it is read back.
   * `onLetGo` is called when nobody needs the input's bytes any more.
   */
  submit(input: Input, given?: Decoded | null, onLetGo: () => void = ignore): Submitted {
    const appended = this.log.append(encodeInput(input));
    if (appended === "memory_full" || appended === "disk_full") return appended;
    const decoded = given === undefined ? this.applier.decode(input) : given;
    const applied = Promise.withResolvers<Receipt>();
    const bytes = input.body.length;
    this.flyingBytes += bytes;
    const durable = appended.then(
      (position) => {
        this.flyingBytes -= bytes;
        this.arrive({ position, input, settle: applied.resolve, letGo: onLetGo, delays: 0 }, decoded);
        return position;
      },
      (cause) => {
        this.flyingBytes -= bytes;
        throw cause;
      },
    );
    durable.catch(applied.reject);
    // A caller may wait for the disk alone.
    applied.promise.catch(() => undefined);
    return { durable, applied: applied.promise };
  }

  /** Resolves when everything durable now has been applied, and what comes meanwhile. */
  async drained(): Promise<void> {
    while (this.applied < this.durable) await (this.catchingUp ?? this.startCatchUp());
  }

  /** Resolves when all that is durable now has had its turn, however much comes meanwhile. What was put off may still wait. */
  async hadTurn(): Promise<void> {
    const until = this.durable;
    while (this.applied < until) await Promise.race([this.catchingUp ?? this.startCatchUp(), this.reached(until)]);
  }

  private reached(position: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.awaited.push({ position, resolve });
    return promise;
  }

  private noteApplied(position: number): void {
    this.applied = position;
    if (this.awaited.length === 0) return;
    for (const waiter of this.awaited) if (waiter.position <= position) waiter.resolve();
    this.awaited = this.awaited.filter((waiter) => waiter.position > position);
  }

  private arrive(waiting: Waiting, decoded: Decoded | null): void {
    this.durable = Math.max(this.durable, waiting.position);
    const isNext = waiting.position === this.applied + 1;
    const isAtOnce = decoded !== null && isNext && this.catchingUp === null && !this.share.isOver;
    if (isAtOnce) {
      const entry = { ...waiting, decoded };
      try {
        if (this.applyAtOnce(entry)) return;
      } catch (error) {
        void this.startCatchUp(async () => this.mend(entry, toFailure(error).cause));
        return;
      }
    }
    this.held.hold({ ...waiting, decoded });
    if (this.catchingUp === null) void this.startCatchUp(isAtOnce ? undefined : nextTurn);
  }

  /** False when it has to wait for something, or takes long. */
  private applyAtOnce(entry: Entry): boolean {
    if (entry.decoded.isLong === true || !this.sink.hasRoom() || this.prepare(entry) !== null) return false;
    this.applyNow(entry);
    return true;
  }

  private startCatchUp(first?: () => Promise<void>): Promise<void> {
    const running = this.catchUp(first);
    this.catchingUp = running;
    running.catch(this.hooks.onFatal);
    return running;
  }

  private async catchUp(first?: () => Promise<void>): Promise<void> {
    try {
      await first?.();
      const turn = new Turn();
      while (this.applied < this.durable) {
        if (turn.isOver) await turn.pass();
        await this.sink.room();
        if (this.held.has(this.applied + 1)) await this.applyHeld(turn);
        else await this.replayUntilHeld(turn);
      }
    } finally {
      // Nothing can arrive between the last look and this; whatever arrives later starts it again.
      this.catchingUp = null;
    }
  }

  /** Applies held inputs one after the other; those that need not wait are passed on together. */
  private async applyHeld(turn: Turn): Promise<void> {
    const takeNext = (): Entry | undefined => this.held.take(this.applied + 1);
    for (let next = takeNext(); next !== undefined; next = turn.isOver ? undefined : takeNext()) {
      const entry = next;
      try {
        if (this.applyAtOnce(entry)) continue;
      } catch (error) {
        await this.mend(entry, toFailure(error).cause);
        return;
      }
      await this.applyOrMend(entry, () => entry.decoded);
      return;
    }
  }

  /** Reads records whose input is no longer in memory, until one is met that still is. */
  private async replayUntilHeld(turn: Turn): Promise<void> {
    const until = this.durable;
    for await (const { position, input, decode } of replay(this.log, this.applier, this.applied + 1, this.aheadTo)) {
      if (position > until || this.held.has(position)) {
        // Positions in between were corrupt and are counted by the journal.
        this.noteApplied(Math.max(this.applied, Math.min(position - 1, until)));
        return;
      }
      if (turn.isOver) await turn.pass();
      if (input === null || this.isNeedless(position, input)) {
        this.passOver(position);
        continue;
      }
      const unanswered = this.held.takeUnanswered(position);
      await this.sink.room();
      await this.applyOrMend({ position, input, ...unanswered }, decode);
    }
    if (this.applied < until) this.passOver(until);
  }

  /** Nothing of the record is stored. The sink must hear of it: a caller that waits for the journal's end would wait forever. */
  private passOver(position: number): void {
    this.noteApplied(position);
    this.gathering.flush();
    this.sink.add({ first: position, position, parts: [], state: [], bytes: 0 });
  }

  /** A copy, made by an earlier process, of a record that this process has read itself. */
  private isNeedless(position: number, { copyOf }: Input): boolean {
    return copyOf !== undefined && copyOf > this.startedAt && !this.copies.has(position);
  }

  private async applyOrMend(entry: Waiting, decode: () => Decoded | Promise<Decoded>, tries = 0): Promise<void> {
    try {
      const decoded = attempt(decode);
      await this.applyWhenReady({
        ...entry,
        decoded: decoded instanceof Promise ? await decoded.catch(toThrown) : decoded,
      });
    } catch (error) {
      await this.mend(entry, toFailure(error).cause, tries + 1);
    }
  }

  /** The failed attempt may have used up some of the decoded input, so it is decoded again. */
  private async mend(entry: Waiting, cause: unknown, tries = 1): Promise<void> {
    const { position, input } = entry;
    this.gathering.flush();
    const instead = await this.hooks.onFailed({ position, input, cause, tries });
    if (instead === null) await this.applyOrMend(entry, () => this.applier.decodeAgain(position, input), tries);
    else this.finish(entry, instead);
  }

  private prepare({ input, decoded }: Entry): Promise<void> | null {
    return this.waits.find(() => this.applier.prepare(input, decoded));
  }

  private async applyWhenReady(entry: Entry): Promise<void> {
    for (;;) {
      const waiting = this.prepare(entry);
      if (waiting === null) {
        await this.applyPrepared(entry);
        // Passed on alone, so that positions are the same for a subscriber who returns after a crash.
        this.gathering.flush();
        return;
      }
      if (await this.waits.isSoonOver(waiting, entry.delays)) continue;
      if (await this.putOff(entry)) return;
      await waiting;
    }
  }

  /** Appends a copy of an input that has to wait, if others wait for it. */
  private async putOff(entry: Entry): Promise<boolean> {
    const { position, input, delays, ...rest } = entry;
    // All that wait behind it may have been put off themselves.
    if (this.durable - position <= this.copies.size) return false;
    const appended = this.log.append(encodeInput({ ...input, copyOf: position }));
    if (typeof appended === "string") return false;
    // If the disk does not take the copy, those behind it wait, as they do when the journal is full.
    const copy = await appended.catch(() => null);
    if (copy === null) return false;
    this.durable = Math.max(this.durable, copy);
    this.copies.delete(position);
    this.copies.add(copy);
    this.held.hold({ ...rest, position: copy, input: { ...input, copyOf: position }, delays: delays + 1 });
    this.passOver(position);
    return true;
  }

  private async applyPrepared(entry: Entry): Promise<void> {
    const { position, input, decoded } = entry;
    if (decoded.isLong !== true) this.applyNow(entry);
    else this.finish(entry, await this.applier.applyInTurns(position, input, decoded).catch(toThrown));
  }

  private applyNow(entry: Entry): void {
    const { position, input, decoded } = entry;
    assert(position > this.applied, "records are applied once, in the order of the journal");
    this.finish(
      entry,
      attempt(() => this.applier.apply(position, input, decoded)),
    );
  }

  private finish({ position, input, settle, letGo }: Waiting, applied: Applied): void {
    this.noteApplied(position);
    this.copies.delete(position);
    const { accepted, duplicates, faults } = applied;
    const tell = (): void => {
      settle({ position, accepted, duplicates, faults });
      letGo();
    };
    this.gathering.add({ position, input, applied, tell });
  }
}

function ignore(): void {}

export type Submitted =
  | "memory_full"
  | "disk_full"
  | {
      /** The bytes are safe. */
      readonly durable: Promise<number>;
      /** The rows are known and on their way to the store. */
      readonly applied: Promise<Receipt>;
    };
