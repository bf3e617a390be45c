// The store as intake sees it. While the store is away, intake waits, and what needs it stays in the journal.

import { setTimeout as sleep } from "node:timers/promises";
import type { IntakeLimits } from "#intake/intake-state.ts";
import type { IntakeStore } from "#intake/intake-store.ts";
import { LoadingGroup } from "#intake/known-groups.ts";
import { loadStoredId, toKeptHash } from "#intake/otlp/identity.ts";
import { loadIdentity } from "#intake/record-identity.ts";
import { loadCaptured } from "#intake/run/wrapper-group.ts";
import { type GroupKind, groupKinds, parseGroupKey } from "#model/group-key.ts";
import type { StateRow } from "#model/state-tables.ts";
import { isRetryable } from "#store/outage.ts";
import { readBatches, readGroupsOfIds, readNearComponents, readRowsOfIds } from "#store/reader/cirron-identity.ts";
import { readCapturedLines, readFaultIds, readLineIds, readOtlpIds } from "#store/reader/restore.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import type { Store } from "#store/store.ts";
import { readStoredGroups } from "./stored-groups.ts";
import { takeEvents, takeEventsWithin } from "./xtrack-identities.ts";

export function createIntakeStore(store: Store, limits: IntakeLimits): IntakeStore {
  return {
    findGroups: (keys) => untilDone(() => readGroupsOfIds(store, keys)),
    findRows: (groupKeys, ids) => untilDone(() => readRowsOfIds(store, groupKeys, ids)),
    // With several collectors, each stores what it knows of a component; only the rows show what all of them know.
    readComponents: (groupKeys) =>
      store.kind === "server"
        ? Promise.resolve([])
        : untilDone(() => readGroupRows(store, "cirron_components", groupKeys)),
    findNear: (workspace, near) => untilDone(() => readNearComponents(store, workspace, near)),
    findBatches: (workspace, batchIds) =>
      untilDone(async () => {
        const rows = await readBatches(store, workspace, batchIds);
        return rows.map((row) => ({
          batchId: row.batch_id,
          contentHash: row.content_hash,
          groupKey: row.group_key,
          source: row.source,
          runOverride: row.run_override,
          receivedNs: row.received_ns,
        }));
      }),
    readGroups: (groupKeys) => untilDone(() => readStoredGroups(store, groupKeys)),
    readKnownGroup: (groupKey) => untilDone(() => readKnownGroup(store, groupKey, limits)),
    readEvents: (groupKey, window, returning) => untilDone(() => takeEventsWithin(store, groupKey, window, returning)),
    findFaults: (workspace, faults) =>
      untilDone(() =>
        readFaultIds(store, workspace, {
          groups: [...new Set(faults.map(({ groupKey }) => groupKey))],
          codes: [...new Set(faults.map(({ code }) => code))],
          ids: faults.map(({ id }) => id),
        }),
      ),
  };
}

/** Repeats a question until the store answers, or until nobody waits for the answer. */
export async function untilDone<T>(ask: () => Promise<T>, isClosing: () => boolean = () => false): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isRetryable(error) || isClosing()) throw error;
      await sleep(Math.min(2000, 50 * 2 ** attempt), undefined, { ref: false });
    }
  }
}

interface ReadGroup {
  readonly row: StateRow<"groups"> | null;
  readonly loading: LoadingGroup;
}

async function readKnownGroup(store: Store, groupKey: string, limits: IntakeLimits): Promise<ReadGroup> {
  const loading = new LoadingGroup();
  const [rows] = await Promise.all([
    readGroupRows(store, "groups", [groupKey]),
    identities[parseGroupKey(groupKey).kind as GroupKind](store, groupKey, loading, limits),
  ]);
  return { row: rows[0] ?? null, loading };
}

type IdentityReader = (store: Store, groupKey: string, loading: LoadingGroup, limits: IntakeLimits) => Promise<void>;

async function nothing(): Promise<void> {}

/** Reads the identities of a group, by the letter of its kind. */
const identities: Readonly<Record<GroupKind, IdentityReader>> = {
  [groupKinds.artifact]: nothing,
  // Cirron's rows are known by their ids, whatever group they are in.
  [groupKinds.cirronBatch]: nothing,
  [groupKinds.otlpHour]: takeOtlp,
  [groupKinds.semantivaLaunch]: takeLines,
  [groupKinds.semantivaRun]: takeLines,
  [groupKinds.wrapper]: takeCaptured,
  [groupKinds.xtrackRun]: takeEvents,
};

async function takeLines(store: Store, groupKey: string, loading: LoadingGroup): Promise<void> {
  const { workspace } = parseGroupKey(groupKey);
  for await (const { id } of readLineIds(store, groupKey)) {
    loadIdentity(Buffer.from(id, "hex"), workspace);
    loading.line();
  }
}

async function takeOtlp(store: Store, groupKey: string, loading: LoadingGroup): Promise<void> {
  for await (const { id, hash } of readOtlpIds(store, groupKey)) {
    loadStoredId(id);
    loading.line(toKeptHash(hash));
  }
}

async function takeCaptured(store: Store, groupKey: string, loading: LoadingGroup): Promise<void> {
  for await (const { stream, offset } of readCapturedLines(store, groupKey)) {
    loadCaptured(stream, offset);
    loading.line();
  }
}
