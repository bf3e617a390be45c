// Deleting runs. The order is a journal record: it covers what was accepted before it, hides the run when it is
// applied, and holds everything after it back (in the journal, not from the client) until the rows are gone and
// intake has forgotten their identities. So importing again restores the run, and a live job starts it anew.

import { dirname } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import type { Input } from "#intake/input.ts";
import type { Receipt, Sequencer } from "#intake/sequencer.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { deleteBlobRows, deleteGroups, readHiddenGroups, readObjectKeys } from "#store/delete-groups.ts";
import { isRetryable } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import { restoreIntake } from "./restore.ts";

interface Parts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly sequencer: Sequencer;
}

export interface DeletionOrder {
  readonly workspace: string;
  readonly runs: readonly { readonly runId: string; readonly groupKeys: readonly string[] }[];
  readonly author: string;
}

/** Resolves when the runs are hidden. */
export async function orderDeletion(collector: Pick<Parts, "sequencer">, order: DeletionOrder): Promise<Receipt> {
  const { workspace, runs, author } = order;
  const input: Input = {
    kind: "change",
    change: "delete",
    author,
    workspace,
    transport: "server",
    source: "",
    runOverride: null,
    imported: false,
    receivedNs: nowNs(),
    body: new TextEncoder().encode(JSON.stringify({ runs })),
  };
  const submitted = collector.sequencer.submit(input);
  if (typeof submitted === "string") throw new Error("The journal has no room for this deletion.");
  return submitted.applied;
}

/** Reads everything anew after rows were removed, and lets intake go on. */
export async function startAnew({ applier, store }: Pick<Parts, "applier" | "store">): Promise<void> {
  applier.forgetAll();
  await restoreIntake(store, applier, nowNs());
  applier.resume();
}

/**
 * Removes what an order has hidden, and lets intake go on. The engine may go away in the middle: then it is done again,
 * or finished at the next start when the collector closes meanwhile.
 */
export async function carryOut(collector: Parts, isClosing: () => boolean): Promise<void> {
  const { writer, sequencer } = collector;
  for (let attempt = 1; ; attempt++) {
    try {
      await writer.storedUpTo(sequencer.position.applied);
      await removeHidden(collector);
      await startAnew(collector);
      return;
    } catch (error) {
      if (isClosing()) return;
      if (!isRetryable(error)) throw error;
      await sleep(Math.min(2000, 50 * 2 ** attempt));
    }
  }
}

/** Also at start, for a deletion that was interrupted. Blobs go first: without its groups a run is not found again. */
export async function removeHidden({ store, blobs }: Pick<Parts, "store" | "blobs">): Promise<void> {
  const hidden = await readHiddenGroups(store);
  if (hidden.length === 0) return;
  for (const objectKey of await readObjectKeys(store, hidden)) await blobs.deletePrefix(`${dirname(objectKey)}/`);
  await deleteBlobRows(store, hidden);
  await deleteGroups(
    store,
    hidden.map(({ group_key }) => group_key),
  );
}
