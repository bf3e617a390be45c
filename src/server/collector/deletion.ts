// Deleting runs. The order is a journal record: it covers what was accepted before it and hides the run when it is
// applied. What comes after it for those groups waits until their rows are gone and intake has forgotten them; everything
// else goes on. So importing again restores the run, and a live job starts it anew.

import { dirname } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProtocolApplier } from "#intake/applier.ts";
import { type DeletedRun, toDeletionInput } from "#intake/changes.ts";
import type { Receipt, Sequencer } from "#intake/sequencer.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { deleteBlobRows, deleteFirings, deleteGroups, readHiddenGroups, readObjectKeys } from "#store/delete-groups.ts";
import type { Store } from "#store/store.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import type { Collector } from "./collector.ts";
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
  /** On a shared store, only what came before this time; everything that was accepted so far when absent. */
  readonly beforeNs?: bigint;
}

/** Resolves when the runs are hidden. */
export async function orderDeletion(
  { sequencer, versions }: Pick<Collector, "sequencer" | "versions">,
  { runs, workspace, author }: DeletionOrder,
): Promise<Receipt> {
  const input = toDeletionInput(runs, workspace, author);
  // What it hides was told with the time of its arrival, and the clock may have been set back since.
  const submitted = sequencer.submit({ ...input, receivedNs: versions.later(input.receivedNs) });
  if (typeof submitted === "string") throw new Error("The journal has no room for this deletion.");
  return submitted.applied;
}

/**
 * Removes what an order has hidden, once everything before it is stored. The engine may go away in the middle: then it is
 * done again, or finished at the next start when the collector closes meanwhile.
 */
export function carryOut(collector: Parts, runs: readonly DeletedRun[], position: number, hooks: Hooks): void {
  const groupKeys = runs.flatMap((run) => run.groupKeys);
  void leave(collector.applier, groupKeys, remove(collector, position, hooks));
}

const never = new Promise<never>(() => undefined);

/**
 * What names these groups waits until they are gone and forgotten. When the process ends before, it waits to the end: the
 * next start removes them first. (Told to go on, it would find them leaving, and ask again and again without a pause.)
 */
export async function leave(
  applier: ProtocolApplier,
  groupKeys: readonly string[],
  gone: Promise<boolean>,
): Promise<void> {
  const forgotten = gone.then((isGone) => (isGone ? applier.forget(groupKeys) : never));
  applier.state.leave(groupKeys, forgotten);
  if (await gone) await forgotten;
}

interface Hooks {
  isClosing(): boolean;
  onTrouble(cause: unknown): void;
}

const retryMsMax = 60_000;

function remove(collector: Parts, position: number, hooks: Hooks): Promise<boolean> {
  return untilTaken(async () => {
    await collector.writer.storedUpTo(position);
    await removeHidden(collector);
  }, hooks);
}

/** A store that refuses (a replica is down, a limit, a right) may do it later. False when the process ends before that. */
export async function untilTaken(work: () => Promise<void>, hooks: Hooks): Promise<boolean> {
  for (let attempt = 1; !hooks.isClosing(); attempt++) {
    try {
      await work();
      return true;
    } catch (error) {
      if (hooks.isClosing()) break;
      if (Number.isInteger(Math.log2(attempt))) hooks.onTrouble(error);
      await sleep(Math.min(retryMsMax, 50 * 2 ** attempt), undefined, { ref: false });
    }
  }
  return false;
}

/**
 * A deletion that a stopped process left half done goes on while the server works, and what names its groups waits. Resolves
 * with the promise of its end.
 */
export async function resumeDeletions(collector: Parts, hooks: Hooks): Promise<{ readonly gone: Promise<unknown> }> {
  const hidden = await untilDone(() => readHiddenGroups(collector.store));
  if (hidden.length === 0) return { gone: Promise.resolve() };
  const gone = untilTaken(() => removeHidden(collector), hooks);
  void leave(
    collector.applier,
    hidden.map(({ group_key }) => group_key),
    gone,
  );
  return { gone };
}

/** Blobs go first: without its groups a run is not found again. */
async function removeHidden({ store, blobs }: Pick<Parts, "store" | "blobs">): Promise<void> {
  const hidden = await readHiddenGroups(store);
  if (hidden.length === 0) return;
  const keys = hidden.map(({ group_key }) => group_key);
  const all = { keys, runs: hidden, cover: "1", beforeNs: null };
  for (const objectKey of await readObjectKeys(store, all)) await blobs.deletePrefix(`${dirname(objectKey)}/`);
  await deleteBlobRows(store, all);
  await deleteFirings(store, hidden, null);
  await deleteGroups(store, keys);
}
