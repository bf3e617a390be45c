// Deleting runs. The order is a journal record: it covers what was accepted before it, hides the run when it is
// applied, and holds everything after it back (in the journal, not from the client) until the rows are gone and
// intake has forgotten their identities. So importing again restores the run, and a live job starts it anew.

import { nowNs } from "#base/clock.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import type { Input } from "#intake/input.ts";
import type { Receipt, Sequencer } from "#intake/sequencer.ts";
import { deleteGroups, readHiddenGroups } from "#store/delete-groups.ts";
import type { Store } from "#store/store.ts";
import type { StoreWriter } from "#store/writer/writer.ts";
import { restoreIntake } from "./restore.ts";

interface Parts {
  readonly store: Store;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly sequencer: Sequencer;
}

export interface DeletionOrder {
  readonly workspace: string;
  readonly runIds: readonly string[];
  readonly groupKeys: readonly string[];
  readonly author: string;
}

/** Resolves when the runs are hidden. */
export async function orderDeletion(collector: Pick<Parts, "sequencer">, order: DeletionOrder): Promise<Receipt> {
  const { workspace, runIds, groupKeys, author } = order;
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
    body: new TextEncoder().encode(JSON.stringify({ runIds, groupKeys })),
  };
  const submitted = collector.sequencer.submit(input);
  if (typeof submitted === "string") throw new Error("The journal has no room for this deletion.");
  return submitted.applied;
}

/** Removes what an order has hidden, and lets intake go on. */
export async function carryOut(
  collector: Parts,
  removeBlobs: (groupKeys: readonly string[]) => Promise<void>,
): Promise<void> {
  const { applier, writer, sequencer, store } = collector;
  await writer.storedUpTo(sequencer.position.applied);
  const hidden = await readHiddenGroups(store);
  await removeBlobs(hidden);
  await deleteGroups(store, hidden);
  applier.forgetAll();
  await restoreIntake(store, applier, nowNs());
  applier.resume();
}
