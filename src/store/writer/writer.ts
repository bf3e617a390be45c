// Moves applied inputs to the store in large blocks. While one plan is being sent, the next one gathers; a
// plan is closed when it is large enough or when its first row has waited long enough. Sending is repeated
// until the store takes it: accepted rows wait here and in the journal, they are never given up.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Batch } from "#model/batch.ts";
import { isDiskFull, isRetryable } from "#store/outage.ts";
import type { Outbox } from "./outbox.ts";
import { decodePlan, encodePlan, nameOf, type Plan, type PlannedBlock } from "./plan.ts";
import { type BlockStore, backOffMs, sendPlan } from "./send-plan.ts";

/** Turns what was gathered into blocks, whose tokens the writer gives, and takes back what has been sent. */
export interface BlockMaker {
  encode(batches: readonly Batch[]): Promise<Omit<PlannedBlock, "token">[]>;
  release(block: Pick<PlannedBlock, "bytes">): void;
}

export interface WriterOptions {
  /** Begins every token; no other start of any collector has the same. */
  readonly tokenPrefix: string;
  /** How long a plan waits for more rows when none was sent lately. */
  readonly lingerMs: number;
  /** The same while rows keep coming. */
  readonly steadyLingerMs: number;
  readonly planBytesMax: number;
  readonly pendingBytesMax: number;
  /** The process holds about as much memory as it may: then half as much waits here. */
  isTight(): boolean;
  /** When a block that the store refuses is offered again: what it lacks (a right, a column, a disk) may come. */
  readonly refusedRetryMs?: number;
  /** After so long a store that others write to may have forgotten a block's token. */
  readonly tokensLastMs?: number;
  /** Everything up to `to` can be read from now on; `batches` are those since the last call. */
  onStored(to: number, batches: readonly Batch[]): void;
  onTrouble(error: unknown, attempt: number): void;
  /** Before a block is sent again, whose first copy may be there and may not be recognised any more. */
  onLateRetry(block: PlannedBlock): Promise<void>;
  /** The rows of a batch cannot become blocks: a bug of ours. Resolves with what is stored in their place. */
  onUnstorable(batch: Batch, cause: unknown): Promise<Batch>;
  /** A plan could not be made: a bug of ours. Nothing more is written until the next start. */
  onStopped(cause: unknown): void;
}

/** Rows that come within this time of the last plan keep coming. */
const steadyMs = 1000;
/** What comes together, as the pieces of one round of senders do, is there within this time. */
const togetherMs = 40;
const refusedRetryMsDefault = 15_000;

export class StoreWriter {
  private gathered: Batch[] = [];
  private gatheredBytes = 0;
  /** When the first of them came. */
  private gatheredAt = 0;
  /** When the last one came, and how long there was none before those of late. */
  private addedAt = Number.NEGATIVE_INFINITY;
  private pauseMs = 0;
  private sendingBytes = 0;
  private readonly outbox: Outbox;
  private readonly store: BlockStore;
  private readonly maker: BlockMaker;
  private readonly options: WriterOptions;
  private storedTo: number;
  private addedTo: number;
  private loop: Promise<void> | null = null;
  private closing = false;
  /** The time to close is over: what has no plan yet is the next start's, which may already be at it. */
  private isOver = false;
  /** Since `open`. */
  private isOpen = false;
  private hurry = false;
  private finishedAt = Number.NEGATIVE_INFINITY;
  private failure: unknown = null;
  private refusal: unknown = null;
  private diskIsFull = false;
  /** Settles when whoever uses the store alone has done. */
  private turn: Promise<void> = Promise.resolve();
  private wake: () => void = () => {};
  private roomWaiters: (() => void)[] = [];
  private storedWaiters: { to: number; resolve: () => void; reject: (cause: unknown) => void }[] = [];

  constructor(outbox: Outbox, store: BlockStore, maker: BlockMaker, options: WriterOptions, storedTo: number) {
    this.outbox = outbox;
    this.store = store;
    this.maker = maker;
    this.options = options;
    this.storedTo = storedTo;
    this.addedTo = storedTo;
  }

  /** The last journal record whose rows are all in the store. */
  get stored(): number {
    return this.storedTo;
  }

  /** Why nothing is stored although the store answers; null when all is well. */
  get trouble(): unknown {
    return this.failure ?? this.refusal;
  }

  /** The last attempt to store something failed for want of room. */
  get isDiskFull(): boolean {
    return this.diskIsFull;
  }

  get pendingBytes(): number {
    return this.gatheredBytes + this.sendingBytes;
  }

  /** In the order of the journal: a plan says up to where everything is stored. */
  add(batch: Batch): void {
    assert(batch.position > this.addedTo, "batches come in the order of the journal");
    this.addedTo = batch.position;
    const nowMs = performance.now();
    const pauseMs = nowMs - this.addedAt;
    this.addedAt = nowMs;
    if (pauseMs > togetherMs && pauseMs < steadyMs) this.pauseMs += (pauseMs - this.pauseMs) / 4;
    if (this.gathered.length === 0) this.gatheredAt = nowMs;
    this.gathered.push(batch);
    this.gatheredBytes += batch.bytes + 256;
    if (this.loop === null) this.start();
    else if (this.gatheredBytes >= this.options.planBytesMax || this.isLast()) this.wake();
  }

  /** Sends the plans that a stopped process left open, for as long as it takes. */
  async sendLeft(plans: readonly Plan[]): Promise<void> {
    for (const { to, blocks } of plans) {
      await this.send(to, blocks);
      await this.untilDone(() => this.outbox.finish(to));
    }
    this.refusal = null;
  }

  /** There is room only from now on. */
  open(): void {
    this.isOpen = true;
    for (const resolve of this.roomWaiters.splice(0)) resolve();
  }

  hasRoom(): boolean {
    const { pendingBytesMax, isTight } = this.options;
    const bytesMax = isTight() ? pendingBytesMax / 2 : pendingBytesMax;
    return this.isOpen && this.failure === null && this.pendingBytes < bytesMax;
  }

  async room(): Promise<void> {
    while (!this.hasRoom()) await new Promise<void>((resolve) => this.roomWaiters.push(resolve));
  }

  /** Resolves when every record up to `to` is in the store. */
  storedUpTo(to: number): Promise<void> {
    if (this.storedTo >= to) return Promise.resolve();
    if (this.failure !== null) return Promise.reject(this.failure);
    this.hurry = true;
    this.wake();
    return new Promise((resolve, reject) => this.storedWaiters.push({ to, resolve, reject }));
  }

  /** Calls `task` while no plan is under way: the store then holds exactly what `stored` says, in all tables. */
  betweenPlans<T>(task: (stored: number) => Promise<T>): Promise<T> {
    return this.alone(async () => {
      if (this.failure !== null) throw this.failure;
      return task(this.storedTo);
    });
  }

  /** Sends what is left, for at most `deadlineMs`; the rest stays in the journal. */
  async close(deadlineMs: number): Promise<void> {
    this.closing = true;
    this.hurry = true;
    this.wake();
    const { loop } = this;
    if (loop !== null) await Promise.race([loop, sleep(deadlineMs, undefined, { ref: false })]);
    this.isOver = true;
    for (const waiter of this.storedWaiters.splice(0)) waiter.reject(new Error("the writer was closed"));
  }

  private start(): void {
    this.loop = this.run().then(
      () => {
        this.loop = null;
        if (this.gathered.length > 0 && !this.isOver) this.start();
      },
      (cause) => {
        // The plan that failed stays in the outbox, and nothing after it may overtake it: the writer stops,
        // its loop stays set so that no other is started, and the journal keeps what comes.
        this.failure = cause;
        for (const waiter of this.storedWaiters.splice(0)) waiter.reject(cause);
        if (!this.closing) this.options.onStopped(cause);
      },
    );
  }

  private async run(): Promise<void> {
    while (this.gathered.length > 0) {
      await this.linger();
      await this.alone(() => this.sendOne());
    }
  }

  private async sendOne(): Promise<void> {
    const batches = this.takePlanful();
    const from = (batches[0] as Batch).first;
    const to = (batches.at(-1) as Batch).position;
    const encoded = await this.encode(batches);
    if (this.isOver) throw new Error("the writer was closed before this plan was made");
    const blocks = encoded.map((block) => ({
      ...block,
      token: `${this.options.tokenPrefix}-${from}-${to}-${nameOf(block)}`,
    }));
    // Rows are kept until they are stored, so both are in memory.
    for (const { bytes } of blocks) this.sendingBytes += bytes.length;
    if (blocks.length > 0) {
      await this.saveUntilDone({ from, to, blocks });
      const retries = await this.send(to, blocks);
      this.refusal = null;
      // A connection that failed may still hold the bytes it was to send.
      if (retries === 0) for (const block of blocks) this.maker.release(block);
    }
    await this.untilDone(() => this.outbox.finish(to));
    this.finishedAt = performance.now();
    this.finish(to, batches);
  }

  /** One batch that cannot be stored does not stop the others. */
  private async encode(batches: readonly Batch[]): ReturnType<BlockMaker["encode"]> {
    try {
      return await this.maker.encode(batches);
    } catch {
      const sound: Batch[] = [];
      for (const batch of batches) sound.push(await this.toSound(batch));
      return this.maker.encode(sound);
    }
  }

  private async toSound(batch: Batch): Promise<Batch> {
    try {
      for (const block of await this.maker.encode([batch])) this.maker.release(block);
      return batch;
    } catch (cause) {
      return this.options.onUnstorable(batch, cause);
    }
  }

  private async send(to: number, blocks: readonly PlannedBlock[]): Promise<number> {
    const { outbox, store, options } = this;
    const beforeRetry = (error: unknown): Promise<void> => this.waitAfterRefusal(error);
    const retries = await sendPlan({ ...options, outbox, store, beforeRetry }, { to, blocks });
    this.diskIsFull = false;
    return retries;
  }

  private async alone<T>(task: () => Promise<T>): Promise<T> {
    const before = this.turn;
    const done = Promise.withResolvers<void>();
    this.turn = done.promise;
    await before;
    try {
      return await task();
    } finally {
      done.resolve();
    }
  }

  /** Waits a little for more rows, unless somebody waits for these. */
  private async linger(): Promise<void> {
    while (!this.hurry && this.gatheredBytes < this.options.planBytesMax) {
      // What came while the plan before was sent has waited already: a store that is busy is never kept waiting.
      const leftMs = this.closesAt - performance.now();
      if (leftMs <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = () => {};
    }
    this.hurry = false;
  }

  private get closesAt(): number {
    return this.isLast() ? Math.min(this.latestAt, this.addedAt + togetherMs) : this.latestAt;
  }

  private get latestAt(): number {
    const { lingerMs, steadyLingerMs } = this.options;
    return this.gatheredAt + (this.isSteady ? steadyLingerMs : lingerMs);
  }

  private get isSteady(): boolean {
    return this.gatheredAt - this.finishedAt < steadyMs;
  }

  /** Whether the next rows, if they keep coming as they did, would come too late for the plan: then nobody waits for them. */
  private isLast(): boolean {
    return this.isSteady && this.addedAt + this.pauseMs > this.latestAt;
  }

  private takePlanful(): Batch[] {
    let bytes = 0;
    let count = 0;
    for (const batch of this.gathered) {
      if (count > 0 && bytes + batch.bytes > this.options.planBytesMax) break;
      bytes += batch.bytes + 256;
      count++;
    }
    const taken = this.gathered.slice(0, count);
    this.gathered = this.gathered.slice(count);
    this.gatheredBytes -= bytes;
    this.sendingBytes = bytes;
    return taken;
  }

  private async saveUntilDone(plan: Plan): Promise<void> {
    const encoded = await encodePlan(plan);
    await this.untilDone(() => this.outbox.save(plan.to, encoded));
  }

  private async untilDone(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write();
        this.diskIsFull = false;
        return;
      } catch (error) {
        this.diskIsFull = isDiskFull(error);
        this.options.onTrouble(error, attempt);
        await sleep(backOffMs(attempt));
      }
    }
  }

  /** A plan that is not sent when we close stays in the outbox, and is the first thing of the next start. */
  private async waitAfterRefusal(error: unknown): Promise<void> {
    this.diskIsFull = isDiskFull(error);
    if (this.closing) throw error;
    if (isRetryable(error)) return;
    this.refusal = error;
    await sleep(this.options.refusedRetryMs ?? refusedRetryMsDefault, undefined, { ref: false });
  }

  private finish(to: number, batches: readonly Batch[]): void {
    this.storedTo = to;
    this.sendingBytes = 0;
    this.options.onStored(to, batches);
    for (const resolve of this.roomWaiters.splice(0)) resolve();
    const done = this.storedWaiters.filter((waiter) => waiter.to <= to);
    this.storedWaiters = this.storedWaiters.filter((waiter) => waiter.to > to);
    for (const waiter of done) waiter.resolve();
  }
}

/**
 * What a stopped process left open, and the position that it reaches once it is sent. Where nothing says how far the store
 * has got, it begins with `journalFirst`: what came before that is stored, or the journal would still have it.
 * `isDamaged`: the store may hold some rows of records behind that position, of a plan that is lost.
 */
export async function readOpenPlans(
  outbox: Outbox,
  journalFirst: () => Promise<number>,
): Promise<{ position: number; plans: Plan[]; isDamaged: boolean }> {
  const known = await outbox.position();
  let position = known ?? (await journalFirst()) - 1;
  const plans: Plan[] = [];
  let isDamaged = known === null;
  for (const { to, bytes, readFile } of await outbox.open()) {
    if (to <= position) {
      await outbox.discard(to);
      continue;
    }
    const plan = bytes === undefined ? null : await decodePlan(bytes, readFile);
    if (plan === null) {
      // Its records are still in the journal and make a new one. Until they are stored its file says, also to a start after
      // this one, that the store may hold some of their rows.
      isDamaged = true;
      break;
    }
    plans.push(plan);
    position = to;
  }
  return { position, plans, isDamaged };
}
