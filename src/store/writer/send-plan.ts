// Sends one plan to the store, each block again and again until it is taken. First come the writers and the ids by
// which rows are found again, then the facts, then the small tables that map them to runs. The blocks of a stage go
// side by side, because a small one costs the engine more waiting than work. An id without its row does no harm, but a
// row without its id is stored twice if the plan is lost in between.

import { setTimeout as sleep } from "node:timers/promises";
import { type FactTable, factTables } from "#model/tables.ts";
import type { Store } from "#store/store.ts";
import type { Outbox } from "./outbox.ts";
import { fileNameOf, nameOf, type PlannedBlock } from "./plan.ts";
import type { WriterOptions } from "./writer.ts";

/** The part of the store that is written to. */
export type BlockStore = Pick<Store, "insert" | "kind">;

/** A block of a durable plan. */
export interface SentBlock extends PlannedBlock {
  /** Its file, if it has one: the embedded engine reads it there, and needs no bytes. */
  readonly file: string | null;
}

export function toSent(outbox: Pick<Outbox, "pathOf">, to: number, block: PlannedBlock): SentBlock {
  const name = fileNameOf(block);
  return { ...block, file: name === null ? null : outbox.pathOf(to, name) };
}

const retryMsMax = 2000;
/** A store remembers 10,000 blocks of a table, and a hundred collectors send some hundred a second. */
const tokensLastMsDefault = 30_000;
/** The embedded engine takes two at a time; a third one is ready for it. */
const blocksAtOnce = 3;

type Target = Pick<WriterOptions, "onTrouble" | "onLateRetry" | "tokensLastMs"> & {
  readonly store: BlockStore;
  /** Waits as long as the error requires; throws to give up. */
  beforeRetry(error: unknown): Promise<void>;
};

/** All of it, or some stages. Returns how many times a block had to be sent again. */
export async function sendPlan(
  target: Target,
  blocks: readonly SentBlock[],
  wanted: readonly Stage[] = stages,
): Promise<number> {
  let retries = 0;
  const staged = Map.groupBy(blocks, ({ table }) => stageOf(table));
  for (const stage of wanted) {
    const queues = Map.groupBy(staged.get(stage) ?? [], queueOf).values();
    const senders = Array.from({ length: blocksAtOnce }, async () => {
      for (const queue of queues) for (const block of queue) retries += await sendBlock(target, block);
    });
    // Waits for all senders, so that nothing is under way any more after a failure.
    for (const outcome of await Promise.allSettled(senders)) if (outcome.status === "rejected") throw outcome.reason;
  }
  return retries;
}

/**
 * Blocks of metrics go one after the other: what has been copied by key is known by the number of the last block
 * (`metrics-by-key.ts`), so no earlier block may still be on its way. Besides, their summaries take much memory.
 */
function queueOf(block: SentBlock): string {
  return block.table === "metrics" ? block.table : nameOf(block);
}

const stages = ["first", "facts", "maps"] as const;
export type Stage = (typeof stages)[number];
const toldFirst: ReadonlySet<PlannedBlock["table"]> = new Set(["writers", "batch_places", "cirron_ids"]);

function stageOf(table: PlannedBlock["table"]): Stage {
  if (toldFirst.has(table)) return "first";
  return (table as FactTable) in factTables ? "facts" : "maps";
}

async function sendBlock(target: Target, block: SentBlock): Promise<number> {
  const { store, onTrouble, onLateRetry, tokensLastMs = tokensLastMsDefault } = target;
  const { table, token, file, ...native } = block;
  const options = file === null ? { token } : { token, file };
  const firstMs = performance.now();
  let isTold = false;
  for (let attempt = 1; ; attempt++) {
    try {
      if (attempt > 1 && !isTold && performance.now() - firstMs >= tokensLastMs) {
        await onLateRetry(block);
        isTold = true;
      }
      await store.insert(table, native, options);
      return attempt - 1;
    } catch (error) {
      onTrouble(error, attempt);
      await target.beforeRetry(error);
      await sleep(backOffMs(attempt));
    }
  }
}

export function backOffMs(attempt: number): number {
  return Math.min(retryMsMax, 20 * 2 ** attempt);
}
