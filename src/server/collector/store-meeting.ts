// What a start needs from the store: its schema, the id of this collector, and whether it holds anything yet. A start
// does not wait long for a store that does not answer: input is accepted into the journal, and the rest follows later.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tellOldServer } from "#store/engine-version.ts";
import { isRetryable } from "#store/outage.ts";
import { hasGroups } from "#store/reader/restore.ts";
import { migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";
import { enrol, type Folder, ForeignFolder, type Identity, ProgressNotes, readIdentity } from "./identity.ts";

export interface StoreMeeting {
  readonly notes: ProgressNotes;
  /** The store is empty; false while that is unknown. */
  readonly isFresh: boolean;
  /** Null if the store has answered already. */
  readonly later: Promise<Met> | null;
}

type Met = Omit<StoreMeeting, "later">;

interface Hooks {
  onTrouble(message: string, cause: unknown): void;
  isClosing(): boolean;
}

const retryMs = 500;
const refusedRetryMs = 15_000;

export async function meetStore(store: Store, folder: Folder, patience: Patience, hooks: Hooks): Promise<StoreMeeting> {
  const identity = await readIdentity(folder.dataDir);
  if (store.kind === "server" && existsSync(join(folder.dataDir, "store")))
    hooks.onTrouble(
      "The data folder has its own store, whose runs are not shown while store.url is set; tributary migrate copies them.",
      null,
    );
  let isLate = false;
  const first = meet(store, folder, identity, hooks, () => !isLate);
  try {
    const met = await patience.within(first);
    if (met !== "late") return { ...met, later: null };
  } catch (cause) {
    if (store.kind === "embedded" || !isRetryable(cause)) throw cause;
    hooks.onTrouble("The store does not answer; until it does, input is accepted into the journal.", cause);
  }
  // From now on records are accepted under the folder's name.
  isLate = true;
  const later = meetLater(store, folder, identity, hooks, first);
  return { notes: new ProgressNotes(store, identity), isFresh: false, later };
}

async function meet(
  store: Store,
  folder: Folder,
  identity: Identity,
  { onTrouble }: Hooks,
  mayRename: () => boolean,
): Promise<Met> {
  const say = (sentence: string): void => onTrouble(sentence, null);
  await migrate(store, say);
  const notes = await enrol(store, folder, identity, { mayRename, onRenamed: say });
  const [old, isUsed] = await Promise.all([tellOldServer(store), hasGroups(store)]);
  if (old !== null) say(old);
  return { notes, isFresh: !isUsed };
}

/** Rejects only if this folder must not be used. */
async function meetLater(
  store: Store,
  folder: Folder,
  identity: Identity,
  hooks: Hooks,
  first: Promise<Met>,
): Promise<Met> {
  for (let meeting = first; ; meeting = meet(store, folder, identity, hooks, () => false)) {
    try {
      return await meeting;
    } catch (cause) {
      if (cause instanceof ForeignFolder || hooks.isClosing()) throw cause;
      if (!isRetryable(cause)) hooks.onTrouble("The store cannot be used as it is; trying again.", cause);
      await sleep(isRetryable(cause) ? retryMs : refusedRetryMs, undefined, { ref: false });
    }
  }
}

// How long a start waits for a store. For a remote one, one limit covers all questions; whatever is unanswered by then
// is waited for while the server already accepts. An embedded engine is waited for, unless its disk is full.

export interface Patience {
  /** Resolves with the result of the work, or with `late`; the work then goes on, and the caller handles its end. */
  within<T>(work: Promise<T>): Promise<T | "late">;
}

export function createPatience(spanMs: number): Patience {
  let isOver = false;
  const over = sleep(spanMs, "late" as const, { ref: false }).then((late) => {
    isOver = true;
    return late;
  });
  return {
    within(work) {
      if (isOver) return Promise.resolve("late");
      return Promise.race([work, over]);
    },
  };
}

/** Waits until it is given up. */
export function createEndless(): Patience & { giveUp(): void } {
  const over = Promise.withResolvers<"late">();
  return { within: (work) => Promise.race([work, over.promise]), giveUp: () => over.resolve("late") };
}

export const none: Patience = { within: () => Promise.resolve("late") };
