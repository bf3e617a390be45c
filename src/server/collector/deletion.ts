// Deleting runs. The order is a journal record: it covers what was accepted before it, and hides the runs when it is
// applied. Later records of their groups wait until the rows are gone and intake has forgotten the groups; everything
// else goes on. So importing again restores a run, and a live job starts it anew.

import { dirname } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProtocolApplier } from "#intake/applier.ts";
import { type DeletedRun, toDeletionInput } from "#intake/changes.ts";
import type { Receipt } from "#intake/sequencer.ts";
import { deleteBlobRows, deleteFirings, deleteGroups, readHiddenGroups, readObjectKeys } from "#store/delete-groups.ts";
import type { Collector } from "./collector.ts";
import { untilDone } from "./intake-store.ts";
import { submitChange } from "./submit.ts";

export interface DeletionOrder {
  readonly workspace: string;
  readonly runs: readonly DeletedRun[];
  readonly author: string;
  /** On a shared store: delete only what arrived before this time. Default: everything accepted so far. */
  readonly beforeNs?: bigint;
}

export function orderDeletion(
  { sequencer, versions }: Pick<Collector, "sequencer" | "versions">,
  { runs, workspace, author }: DeletionOrder,
): Promise<Receipt> {
  const input = toDeletionInput(runs, workspace, author);
  // The clock may have been set back since the rows to hide arrived.
  return submitChange(sequencer, { ...input, receivedNs: versions.later(input.receivedNs) });
}

/**
 * Removes what an order has hidden, once everything before it is stored. If the engine goes away meanwhile, the removal
 * is retried; if the collector closes, the next start finishes it.
 */
export function carryOut(
  collector: Collector,
  { runs, workspace }: Pick<DeletionOrder, "runs" | "workspace">,
  position: number,
  isClosing: () => boolean,
): void {
  const removed = untilTaken(collector, isClosing, async () => {
    await collector.writer.storedUpTo(position);
    await removeHidden(collector);
  });
  collector.removals.begin(
    runs.map(({ runId }) => ({ workspace, runId })),
    removed,
  );
  void leave(
    collector.applier,
    runs.flatMap((run) => run.groupKeys),
    removed,
  );
}

const never = new Promise<never>(() => undefined);

/**
 * Records of these groups wait until the groups are gone and forgotten. If the process ends first, they keep waiting:
 * the next start removes the groups before it applies them. (If they went on, they would find the groups still being
 * deleted and be retried without a pause.)
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

const retryMsMax = 60_000;

/**
 * A store that refuses now (a replica is down, a limit, a missing right) may accept later. False if the process ends
 * first.
 */
export async function untilTaken(
  { tell }: Pick<Collector, "tell">,
  isClosing: () => boolean,
  work: () => Promise<void>,
): Promise<boolean> {
  for (let attempt = 1; !isClosing(); attempt++) {
    try {
      await work();
      return true;
    } catch (error) {
      if (isClosing()) break;
      if (Number.isInteger(Math.log2(attempt))) tell("The store does not delete rows; trying again.", error);
      await sleep(Math.min(retryMsMax, 50 * 2 ** attempt), undefined, { ref: false });
    }
  }
  return false;
}

/**
 * Finishes a deletion that a stopped process left half done. The server works meanwhile, and records of these groups
 * wait. Resolves with the promise of the end.
 */
export async function resumeDeletions(collector: Collector, isClosing: () => boolean) {
  const hidden = await untilDone(() => readHiddenGroups(collector.store));
  if (hidden.length === 0) return { gone: Promise.resolve() };
  const gone = untilTaken(collector, isClosing, () => removeHidden(collector));
  collector.removals.begin(
    hidden.map(({ workspace, run_id: runId }) => ({ workspace, runId })),
    gone,
  );
  void leave(
    collector.applier,
    hidden.map(({ group_key }) => group_key),
    gone,
  );
  return { gone };
}

/** Blobs go first: once its groups are gone, a run is not found again. */
async function removeHidden({ store, blobs, byKey }: Collector): Promise<void> {
  const hidden = await readHiddenGroups(store);
  if (hidden.length === 0) return;
  const keys = hidden.map(({ group_key }) => group_key);
  const all = { keys, runs: hidden, cover: "1", beforeNs: null };
  for (const objectKey of await readObjectKeys(store, all)) await blobs.deletePrefix(`${dirname(objectKey)}/`);
  await deleteBlobRows(store, all);
  await deleteFirings(store, hidden, null);
  await byKey.apart(() => deleteGroups(store, keys));
}
