// Deleting runs. The order is a journal record: it covers what was accepted before it and hides the run when it is
// applied. What comes after it for those groups waits until their rows are gone and intake has forgotten them; everything
// else goes on. So importing again restores the run, and a live job starts it anew.

import { dirname } from "node:path/posix";
import type { ProtocolApplier } from "#intake/applier.ts";
import { type DeletedRun, toDeletionInput } from "#intake/changes.ts";
import type { Receipt, Sequencer } from "#intake/sequencer.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { deleteBlobRows, deleteGroups, readHiddenGroups, readObjectKeys } from "#store/delete-groups.ts";
import type { Store } from "#store/store.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import { untilDone } from "./intake-store.ts";

interface Parts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly sequencer: Sequencer;
}

export interface DeletionOrder {
  readonly workspace: string;
  readonly runs: readonly DeletedRun[];
  readonly author: string;
}

/** Resolves when the runs are hidden. */
export async function orderDeletion(collector: Pick<Parts, "sequencer">, order: DeletionOrder): Promise<Receipt> {
  const submitted = collector.sequencer.submit(toDeletionInput(order.runs, order.workspace, order.author));
  if (typeof submitted === "string") throw new Error("The journal has no room for this deletion.");
  return submitted.applied;
}

/**
 * Removes what an order has hidden, once everything before it is stored. The engine may go away in the middle: then it is
 * done again, or finished at the next start when the collector closes meanwhile.
 */
export function carryOut(
  collector: Parts,
  runs: readonly DeletedRun[],
  position: number,
  isClosing: () => boolean,
): Promise<void> {
  const groupKeys = runs.flatMap((run) => run.groupKeys);
  const removal = remove(collector, position, isClosing).then((isDone) => {
    if (isDone) collector.applier.state.forget(groupKeys);
  });
  collector.applier.state.leave(groupKeys, removal);
  return removal;
}

async function remove(collector: Parts, position: number, isClosing: () => boolean): Promise<boolean> {
  try {
    await untilDone(async () => {
      await collector.writer.storedUpTo(position);
      await removeHidden(collector);
    }, isClosing);
    return true;
  } catch (error) {
    if (isClosing()) return false;
    throw error;
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
