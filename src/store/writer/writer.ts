// Moves applied inputs to the store in large blocks, one plan after the other. While a plan is being sent, the next one
// gathers; once that is large it is made as well, so that neither the engine nor this process waits for the other. It
// is not sent before the plan ahead of it is stored. Sending is repeated until the store takes it: accepted rows wait
// here and in the journal, and are never dropped.

import { setTimeout as sleep } from "node:timers/promises";
import type { Batch } from "#model/batch.ts";
import { isDiskFull, isRetryable } from "#store/outage.ts";
import { Gathered, type Lingering } from "./gathered.ts";
import type { Outbox } from "./outbox.ts";
import { encodePlan, nameOf, type Plan, type PlannedBlock } from "./plan.ts";
import { type BlockStore, backOffMs, type SentBlock, type Stage, sendPlan, toSent } from "./send-plan.ts";

/** Turns gathered batches into blocks, whose tokens the writer adds, and takes back blocks that were sent. */
export interface BlockMaker {
  encode(batches: readonly Batch[]): Promise<Omit<PlannedBlock, "token">[]>;
  release(block: Pick<PlannedBlock, "bytes">): void;
}

export interface WriterOptions extends Lingering {
  /** The prefix of every token; no other start of any collector has the same. */
  readonly tokenPrefix: string;
  /** A plan of this size waits for no more rows, and is made while the one before it is being sent. */
  readonly planBytesEnough: number;
  readonly planBytesMax: number;
  readonly pendingBytesMax: number;
  /** The share of that which may wait now: less when memory is short. */
  pendingShare(): number;
  /** How long to wait before a refused block is offered again: what it lacks (a right, a column, a disk) may come. */
  readonly refusedRetryMs?: number;
  /** After this time a shared store may have forgotten the token of a block. */
  readonly tokensLastMs?: number;
  /** Everything up to `to` can be read from now on; `batches` are those stored since the last call. */
  onStored(to: number, batches: readonly Batch[]): void;
  onTrouble(error: unknown, attempt: number): void;
  /** Called before a late retry of a block: its first copy may be stored and no longer be recognised. */
  onLateRetry(block: PlannedBlock): Promise<void>;
  /** No block can be made of a batch's rows, which is a bug. Resolves with what is stored in their place. */
  onUnstorable(batch: Batch, cause: unknown): Promise<Batch>;
  /** A plan could not be made, which is a bug. Nothing more is written until the next start. */
  onStopped(cause: unknown): void;
}

/** A plan that is durable, or empty. */
interface MadePlan {
  readonly to: number;
  readonly batches: readonly Batch[];
  readonly blocks: readonly SentBlock[];
  /** The bytes of its batches, and of its blocks that are in memory. */
  readonly bytes: number;
}

const refusedRetryMsDefault = 15_000;
/** Blocks take at most this share of the memory that their rows take. */
const blocksShare = 2 / 3;

export class StoreWriter {
  private readonly gathered: Gathered;
  /** The bytes of plans that are being made, are made or are being sent. */
  private plannedBytes = 0;
  /** The plan that is being sent, or the last one that was. */
  private sending: Promise<void> = Promise.resolve();
  private isSending = false;
  private readonly outbox: Outbox;
  private readonly store: BlockStore;
  private readonly maker: BlockMaker;
  private readonly options: WriterOptions;
  private storedTo: number;
  private loop: Promise<void> | null = null;
  private closing = false;
  /** The time to close is over: whatever has no plan yet is left to the next start, which may already be running. */
  private isOver = false;
  /** Since `open`. */
  private isOpen = false;
  private hurry = false;
  private failure: unknown = null;
  private refusal: unknown = null;
  /** Whether the last attempt to make a plan durable, or to store one, failed for want of room. */
  private outboxIsFull = false;
  private storeIsFull = false;
  /** Settles when the current task of `alone` is done. */
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
    this.gathered = new Gathered(options, storedTo);
  }

  /** The last journal record whose rows are all in the store. */
  get stored(): number {
    return this.storedTo;
  }

  /** Why nothing is stored although the store answers; null if all is well. */
  get trouble(): unknown {
    return this.failure ?? this.refusal;
  }

  /** The last attempt to store something failed for want of room. */
  get isDiskFull(): boolean {
    return this.outboxIsFull || this.storeIsFull;
  }

  get pendingBytes(): number {
    return this.gathered.bytes + this.plannedBytes;
  }

  /** In the order of the journal. */
  add(batch: Batch): void {
    const { gathered } = this;
    gathered.add(batch);
    if (this.loop === null) this.start();
    else if (gathered.bytes >= this.options.planBytesEnough || gathered.isLast()) this.wake();
  }

  /** Sends the plans that a stopped process left, however long it takes. */
  async sendLeft(plans: readonly Plan[], afterwards: (plan: Plan) => Promise<void>): Promise<void> {
    for (const plan of plans) {
      const { to, blocks } = plan;
      await this.send(blocks.map((block) => toSent(this.outbox, to, block)));
      await afterwards(plan);
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
    return this.isOpen && this.failure === null && this.roomBytes > 0;
  }

  private get roomBytes(): number {
    const { pendingBytesMax, pendingShare } = this.options;
    return pendingBytesMax * pendingShare() - this.pendingBytes;
  }

  /** How many bytes of rows can be made into blocks ahead. */
  private get aheadBytesMax(): number {
    return this.roomBytes / blocksShare;
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

  /** Calls `task` while no small table is written to: they then hold exactly what `stored` says. Of facts there may be more. */
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
        if (!this.gathered.isEmpty && !this.isOver) this.start();
      },
      (cause) => {
        // The failed plan stays in the outbox, and nothing may overtake it: the writer stops, its loop stays set so
        // that no other is started, and the journal keeps what comes.
        this.failure = cause;
        for (const waiter of this.storedWaiters.splice(0)) waiter.reject(cause);
        if (!this.closing) this.options.onStopped(cause);
      },
    );
  }

  private async run(): Promise<void> {
    while (await this.untilDue()) {
      const plan = await this.make().catch(async (cause) => {
        await this.sending;
        throw cause;
      });
      await this.sending;
      this.isSending = true;
      this.sending = this.sendMade(plan).finally(() => {
        this.isSending = false;
        this.wake();
      });
      // A failure is noticed where it is awaited.
      this.sending.catch(ignore);
    }
  }

  /** Waits until there is a plan to make; false if everything is stored. */
  private async untilDue(): Promise<boolean> {
    for (;;) {
      if (!this.isSending) await this.sending;
      if (!this.isSending && this.gathered.isEmpty) return false;
      const leftMs = this.dueInMs();
      if (leftMs <= 0) break;
      await this.untilWoken(leftMs);
    }
    this.hurry = false;
    return true;
  }

  private dueInMs(): number {
    const { planBytesEnough } = this.options;
    const { gathered } = this;
    const isEnough = gathered.bytes >= planBytesEnough;
    // A small plan would not be stored any sooner, and would miss further rows.
    if (this.isSending) return isEnough && this.aheadBytesMax >= planBytesEnough ? 0 : Number.POSITIVE_INFINITY;
    // What came while the last plan was sent has waited long enough: a busy store is never kept waiting.
    return isEnough || this.hurry ? 0 : gathered.closesAt - performance.now();
  }

  private async untilWoken(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, ms);
    this.wake = resolve;
    await promise;
    clearTimeout(timer);
    this.wake = ignore;
  }

  /** The plan that it makes is durable. */
  private async make(): Promise<MadePlan> {
    const { planBytesMax } = this.options;
    // The rows stay in memory until they are stored, and their blocks come on top of them.
    const bytesMax = this.isSending ? Math.min(planBytesMax, this.aheadBytesMax) : planBytesMax;
    const { from, to, batches, bytes } = this.gathered.take(bytesMax);
    this.plannedBytes += bytes;
    const encoded = await this.encode(batches);
    if (this.isOver) throw new Error("the writer was closed before this plan was made");
    const blocks = encoded.map((block) => ({
      ...block,
      token: `${this.options.tokenPrefix}-${from}-${to}-${nameOf(block)}`,
    }));
    this.plannedBytes += sizeOf(blocks);
    if (blocks.length > 0) await this.saveUntilDone({ from, to, blocks });
    const sent = blocks.map((block) => this.toSent(to, block));
    this.plannedBytes += sizeOf(sent) - sizeOf(blocks);
    return { to, batches, blocks: sent, bytes: bytes + sizeOf(sent) };
  }

  /** Drops the bytes of a block that the engine reads from the disk. */
  private toSent(to: number, block: PlannedBlock): SentBlock {
    const sent = toSent(this.outbox, to, block);
    if (sent.file === null || this.store.kind === "server") return sent;
    this.maker.release(block);
    return { ...sent, bytes: nothing };
  }

  private async sendMade({ to, blocks, batches, bytes }: MadePlan): Promise<void> {
    if (this.isOver) throw new Error("the writer was closed before this plan was sent");
    let retries = await this.send(blocks, ["first", "facts"]);
    await this.alone(async () => {
      retries += await this.send(blocks, ["maps"]);
      this.refusal = null;
      // A failed connection may still hold the bytes that it was sending.
      if (retries === 0) for (const block of blocks) if (block.bytes !== nothing) this.maker.release(block);
      await this.untilDone(() => this.outbox.finish(to));
      this.gathered.finishedAt = performance.now();
      this.plannedBytes -= bytes;
      this.finish(to, batches);
    });
  }

  /** One batch that cannot be stored does not stop the others. */
  private async encode(batches: readonly Batch[]): ReturnType<BlockMaker["encode"]> {
    try {
      return await this.maker.encode(batches);
    } catch {
      // Setting a batch aside forgets its groups, so what came before must be in the store.
      await this.sending;
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

  private async send(blocks: readonly SentBlock[], stages?: readonly Stage[]): Promise<number> {
    const { store, options } = this;
    const beforeRetry = (error: unknown): Promise<void> => this.waitAfterRefusal(error);
    const retries = await sendPlan({ ...options, store, beforeRetry }, blocks, stages);
    this.storeIsFull = false;
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

  private async saveUntilDone(plan: Plan): Promise<void> {
    const encoded = await encodePlan(plan);
    await this.untilDone(() => this.outbox.save(plan.to, encoded));
  }

  private async untilDone(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write();
        this.outboxIsFull = false;
        return;
      } catch (error) {
        this.outboxIsFull = isDiskFull(error);
        this.options.onTrouble(error, attempt);
        await sleep(backOffMs(attempt));
      }
    }
  }

  /** A plan that is not sent when the writer closes stays in the outbox, and the next start sends it first. */
  private async waitAfterRefusal(error: unknown): Promise<void> {
    this.storeIsFull = isDiskFull(error);
    if (this.closing) throw error;
    if (isRetryable(error)) return;
    this.refusal = error;
    await sleep(this.options.refusedRetryMs ?? refusedRetryMsDefault, undefined, { ref: false });
  }

  private finish(to: number, batches: readonly Batch[]): void {
    this.storedTo = to;
    this.options.onStored(to, batches);
    for (const resolve of this.roomWaiters.splice(0)) resolve();
    const done = this.storedWaiters.filter((waiter) => waiter.to <= to);
    this.storedWaiters = this.storedWaiters.filter((waiter) => waiter.to > to);
    for (const waiter of done) waiter.resolve();
  }
}

const nothing = new Uint8Array();

function sizeOf(blocks: readonly { readonly bytes: Uint8Array }[]): number {
  return blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function ignore(): void {}
