// What a collector does with a record that cannot be applied. The record may have left the state half changed, so once
// everything before it is stored, the state is rebuilt from the store, as at a start. Then the record is tried once
// more, in case the state was the problem, and set aside if it fails again. Records that are accepted meanwhile wait in
// the journal; senders only notice that answers which wait for application take longer.

import { setTimeout as sleep } from "node:timers/promises";
import type { Applied } from "#intake/applied.ts";
import type { ProtocolApplier } from "#intake/applier.ts";
import { decodeInputAside } from "#intake/input.ts";
import type { FailedInput } from "#intake/sequencer.ts";
import { type SetAside, triesMax } from "#intake/set-aside.ts";
import type { Journal } from "#journal/journal.ts";
import type { AnyTablePart } from "#model/batch.ts";
import { type OutageKind, StoreOutage } from "#store/outage.ts";
import { readJoins } from "#store/reader/joins.ts";
import type { Store } from "#store/store.ts";
import type { StoreWriter, WriterOptions } from "#store/writer/writer.ts";
import { untilDone } from "./intake-store.ts";
import { noOutline, readOutline } from "./outline.ts";

export interface MenderParts {
  readonly store: Store;
  readonly applier: ProtocolApplier;
  readonly writer: StoreWriter;
  readonly setAside: SetAside;
  /** The last position that was applied. */
  applied(): number;
  isClosing(): boolean;
  onTrouble(message: string, cause: unknown): void;
}

/** Limits that a question about this one record exceeded. Any other outage would fail the records behind it too. */
const ownLimits: ReadonlySet<OutageKind> = new Set(["too_large", "timeout"]);
/** The outline is read again after this time, so that a few failures in a row cost one look through the store. */
const warmDelayMs = 1000;
const retryMs = 1000;

export function createMender(parts: MenderParts): (failed: FailedInput) => Promise<Applied | null> {
  const { store, applier, writer, setAside, isClosing, onTrouble } = parts;
  const warmAgain = createWarmer(parts);
  return async (failed) => {
    const { position, cause, tries } = failed;
    if (isClosing()) throw cause;
    if (cause instanceof StoreOutage && !ownLimits.has(cause.kind)) {
      setAside.blame(failed);
      throw cause;
    }
    onTrouble(`Record ${position} of the journal could not be applied (attempt ${tries} of ${triesMax}).`, cause);
    await writer.storedUpTo(parts.applied());
    applier.renew(await untilDone(() => readJoins(store), isClosing));
    warmAgain();
    return tries < triesMax ? null : putAside(parts, failed);
  };
}

/**
 * Called when no block can be made of the rows of some applied records. The records are set aside, and a fault is
 * stored in place of their rows. Their groups are forgotten, so that the records count as new when they are retried.
 */
export function createLeaver(
  parts: Pick<MenderParts, "setAside" | "applier"> & { readonly journal: Journal },
): WriterOptions["onUnstorable"] {
  const { journal, setAside, applier } = parts;
  return async (batch, cause) => {
    const told: AnyTablePart[] = [];
    for await (const { position, payload } of journal.replay(batch.first)) {
      if (position > batch.position) break;
      const input = await decodeInputAside(payload);
      const instead = input === null ? null : await setAside.put({ position, input, cause, tries: 1 });
      for (const part of instead?.parts ?? []) told.push(part);
    }
    await applier.forget([...new Set(batch.parts.flatMap(({ rows }) => rows.group_key.keys))]);
    return { ...batch, parts: told, state: [] };
  };
}

/** A full disk gets room again; until then everything waits in the journal. */
async function putAside({ setAside, isClosing, onTrouble }: MenderParts, failed: FailedInput): Promise<Applied> {
  for (;;) {
    try {
      return await setAside.put(failed);
    } catch (cause) {
      if (isClosing()) throw cause;
      onTrouble("A record could not be set aside; trying again.", cause);
      await sleep(retryMs, undefined, { ref: false });
    }
  }
}

/** Gives the state an outline of the store, in the background and one at a time, until the newest state has one. */
function createWarmer({ store, applier, isClosing, onTrouble }: MenderParts): () => void {
  let isRunning = false;
  const run = async (): Promise<void> => {
    for (let warmed: unknown = null; warmed !== applier.state && !isClosing(); ) {
      await sleep(warmDelayMs, undefined, { ref: false });
      const { state } = applier;
      state.warm(await readOutline(store));
      warmed = state;
    }
  };
  return () => {
    if (isRunning) return;
    isRunning = true;
    run()
      .catch((cause) => {
        if (!isClosing()) onTrouble(noOutline, cause);
      })
      .finally(() => {
        isRunning = false;
      });
  };
}
