// A batch so large that other work would notice: what its rows need is determined and read from the store stretch by stretch,
// and it is applied in steps. Small batches do the same in one go (memory.ts, apply.ts).

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { inTurns } from "#base/turns.ts";
import type { Applied } from "#intake/applied.ts";
import type { Arrival } from "#intake/input.ts";
import type { CirronBatch } from "#wire/cirron/batch.ts";
import { applyCirronBatch } from "./apply.ts";
import type { Component } from "./component.ts";
import { addTied, type BatchFacts, type Cleared, factsOf, nobody, scanStretch } from "./needs.ts";
import { type CirronStore, recall } from "./recall.ts";
import { hashContents } from "./row-taker.ts";
import { stretchesOf, tables } from "./stretches.ts";
import type { CirronWorkspace } from "./workspace.ts";

/** A batch beyond one of these is long. */
const rowsMax = 4096;
const bytesMax = 2 * 1024 * 1024;
const hashedAtOnce = 1024 * 1024;

export function isLong(body: Uint8Array, { spans, marks, snapshots }: CirronBatch): boolean {
  const rows = spans.span_id.length + marks.mark_id.length + snapshots.snapshot_id.length;
  return rows > rowsMax || body.length > bytesMax;
}

type Leaving = ReadonlyMap<string, Promise<void>>;

export class LongBatch {
  private readonly body: Uint8Array;
  readonly batch: CirronBatch;
  private contentHash = "";
  private preparing: Promise<void> | null = null;
  /** The state that it was prepared for. It stays prepared while that drops nothing. */
  private ready: { readonly state: CirronWorkspace; readonly losses: number } | null = null;

  constructor(body: Uint8Array, batch: CirronBatch) {
    this.body = body;
    this.batch = batch;
  }

  prepare(state: CirronWorkspace, store: CirronStore, arrival: Arrival, leaving: Leaving): Promise<void> | null {
    if (this.preparing !== null) return this.preparing;
    if (this.ready?.state === state && this.ready.losses === state.losses) return null;
    this.preparing = this.recallAll(state, store, arrival, leaving).finally(() => {
      this.preparing = null;
    });
    return this.preparing;
  }

  apply(state: CirronWorkspace, arrival: Arrival, position: number): Generator<void, Applied> {
    return applyCirronBatch(state, position, { ...arrival, body: this.body }, this.batch, this.contentHash);
  }

  private async recallAll(state: CirronWorkspace, store: CirronStore, arrival: Arrival, leaving: Leaving) {
    const { losses } = state;
    const memo: Cleared = { losses, names: new Set(), batch: false };
    const { batch } = this;
    await inTurns(this.hash());
    const tied = new Set<Component>();
    if (!state.isWhole) {
      const first = await this.recallFirst(state, store, memo, leaving);
      if (first !== undefined) tied.add(first);
      else await recallIds(state, store, batch, memo, leaving, tied);
    }
    const facts = { batchId: batch.batchId, rows: batch, source: arrival.source, runOverride: arrival.runOverride };
    await recallNear(state, store, facts, memo, leaving, tied);
    this.ready = { state, losses };
  }

  private *hash(): Generator<void, void> {
    const hash = createHash("sha256");
    for (let at = 0; at < this.body.length; at += hashedAtOnce) {
      hash.update(this.body.subarray(at, at + hashedAtOnce));
      yield;
    }
    this.contentHash = hash.digest("hex");
    yield* hashContents(this.batch);
  }

  /** The component of the same batch with the same content, if there is one: then all its rows are known. */
  private async recallFirst(
    state: CirronWorkspace,
    store: CirronStore,
    memo: Cleared,
    leaving: Leaving,
  ): Promise<Component | undefined> {
    const { batchId } = this.batch;
    if (state.ledger.get(batchId) === undefined)
      await recall(state, store, { ids: [], batchIds: [batchId], near: null, facts: nobody }, memo, leaving);
    const known = state.ledger.get(batchId);
    const at = known?.contentHash === this.contentHash ? state.components.ofKey(known.groupKey) : undefined;
    return at === undefined ? undefined : state.components.get(at);
  }
}

async function recallIds(
  state: CirronWorkspace,
  store: CirronStore,
  rows: CirronBatch,
  memo: Cleared,
  leaving: Leaving,
  tied: Set<Component>,
): Promise<void> {
  for (const table of tables) {
    for (const stretch of stretchesOf(rows, table)) {
      for (;;) {
        const ids = scanStretch(state, rows, stretch, memo);
        if (ids.length === 0) break;
        await recall(state, store, { ids, batchIds: [], near: null, facts: nobody }, memo, leaving);
      }
      addTied(tied, state, rows, stretch);
      await setImmediate();
    }
  }
}

/** Neighbours may have neighbours of their own. */
async function recallNear(
  state: CirronWorkspace,
  store: CirronStore,
  batch: BatchFacts,
  memo: Cleared,
  leaving: Leaving,
  tied: ReadonlySet<Component>,
): Promise<void> {
  while (!state.away.isEmpty) {
    const facts = factsOf(batch, tied);
    const near = state.away.questionFor(facts, state.gapNs);
    if (near === null) return;
    await recall(state, store, { ids: [], batchIds: [], near, facts }, memo, leaving);
  }
}
