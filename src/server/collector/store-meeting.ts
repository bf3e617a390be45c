// What a start needs of the store: its schema, this collector's name in it, and whether it holds anything yet. A store that
// does not answer is not waited for: input is accepted into the journal, and everything else follows when it does.

import { setTimeout as sleep } from "node:timers/promises";
import { tellOldServer } from "#store/engine-version.ts";
import { isRetryable } from "#store/outage.ts";
import { hasGroups } from "#store/reader/restore.ts";
import { isFilled, migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";
import { enrol, type Folder, ForeignFolder, type Identity, ProgressNotes, readIdentity } from "./identity.ts";

export interface StoreMeeting {
  readonly notes: ProgressNotes;
  /** The store holds nothing; false while that is not known. */
  readonly isFresh: boolean;
  /** Null where the store has answered already. */
  readonly later: Promise<Met> | null;
  /** Ids of an older release's rows are there. */
  readonly isFilled: boolean;
}

type Met = Omit<StoreMeeting, "later">;

interface Hooks {
  onTrouble(message: string, cause: unknown): void;
  isClosing(): boolean;
}

const retryMs = 500;
const refusedRetryMs = 15_000;

export async function meetStore(store: Store, folder: Folder, hooks: Hooks): Promise<StoreMeeting> {
  const identity = await readIdentity(folder.dataDir);
  try {
    const met = await meet(store, folder, identity, (sentence) => hooks.onTrouble(sentence, null));
    const old = await tellOldServer(store);
    if (old !== null) hooks.onTrouble(old, null);
    return { ...met, later: null };
  } catch (cause) {
    if (store.kind === "embedded" || !isRetryable(cause)) throw cause;
    hooks.onTrouble("The store does not answer; what comes is accepted into the journal until it does.", cause);
    const later = meetLater(store, folder, identity, hooks);
    return { notes: new ProgressNotes(store, identity), isFresh: false, isFilled: false, later };
  }
}

async function meet(
  store: Store,
  folder: Folder,
  identity: Identity,
  onRenamed: ((sentence: string) => void) | null,
): Promise<Met> {
  await migrate(store);
  const notes = await enrol(store, folder, identity, onRenamed);
  return { notes, isFresh: !(await hasGroups(store)), isFilled: await isFilled(store) };
}

/** Rejects only when this folder must not go on. */
async function meetLater(store: Store, folder: Folder, identity: Identity, hooks: Hooks): Promise<Met> {
  for (;;) {
    try {
      return await meet(store, folder, identity, null);
    } catch (cause) {
      if (cause instanceof ForeignFolder || hooks.isClosing()) throw cause;
      if (!isRetryable(cause)) hooks.onTrouble("The store cannot be used as it is; it is asked again.", cause);
      await sleep(isRetryable(cause) ? retryMs : refusedRetryMs, undefined, { ref: false });
    }
  }
}
