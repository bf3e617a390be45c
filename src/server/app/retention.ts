// Deletes runs that have received nothing for longer than their workspace keeps runs, as a person would, and records it
// in the audit. One of the collectors of a store does this at its start and every hour. A setting made through the API
// overrides the configuration.

import { once } from "node:events";
import { nowNs as systemNowNs } from "#base/clock.ts";
import type { Age } from "#config/kinds.ts";
import type { Config } from "#config/settings.ts";
import type { DeletedRun } from "#intake/changes.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { DeletionOrder } from "#server/collector/deletion.ts";
import { dropDeletedRows } from "#store/drop-deleted-rows.ts";
import { takeLease } from "#store/lease.ts";
import { prunePlaces } from "#store/prune-places.ts";
import { readSettings, readWorkspaces } from "#store/reader/admin.ts";
import type { GroupScope } from "#store/reader/group-scope.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import { readGroupsOfRuns } from "#store/reader/run-names.ts";
import type { Store } from "#store/store.ts";

export interface RetentionOptions {
  readonly collector: Collector;
  readonly ages: ConfiguredAges;
  order(order: DeletionOrder): Promise<Receipt>;
  /** Ends a wait for the store. */
  readonly signal?: AbortSignal;
}

/** The configuration, for workspaces without a setting of their own. */
export type ConfiguredAges = Pick<Config, "retentionMs" | "retentionByWorkspaceMs">;

/** Null keeps runs forever. */
export function configuredAgeMs(ages: ConfiguredAges, workspace: string): number | null {
  const { retentionMs, retentionByWorkspaceMs: named } = ages;
  const age = Object.hasOwn(named, workspace) ? (named[workspace] as Age) : retentionMs;
  return age === "off" ? null : age;
}

export interface Retention {
  close(): Promise<void>;
}

const everyMs = 3_600_000;
const leaseMs = 3_000_000;
const dayMs = 86_400_000;
/** Longer than a collector that was cut off looks back. */
const placesNs = 26n * 3_600_000_000_000n;
/** A deletion holds up intake, so many runs are deleted in several steps. */
const runsAtOnce = 200;

export function createRetention(options: Omit<RetentionOptions, "signal">): Retention {
  const closing = new AbortController();
  const { signal } = closing;
  const sweep = (): Promise<void> =>
    sweepForAll({ ...options, signal }).catch((cause) => {
      if (signal.aborted) return;
      options.collector.tell("Old runs could not be removed; trying again in an hour.", cause);
    });
  let under = sweep();
  const timer = setInterval(() => {
    under = under.then(sweep);
  }, everyMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      closing.abort();
      await under;
    },
  };
}

/** One collector does it for all, and keeps the others from repeating it within the hour. */
async function sweepForAll(options: RetentionOptions): Promise<void> {
  const { store, id } = options.collector;
  const lease = await takeLease(store, "retention", id, leaseMs);
  if (lease === null) return;
  try {
    await sweepRetention(options, systemNowNs());
    await prunePlaces(store, systemNowNs() - placesNs);
    await dropDeletedRows(store);
  } catch (cause) {
    await lease.release();
    throw cause;
  }
}

/** Returns how many runs were deleted. */
export async function sweepRetention(options: RetentionOptions, nowNs: bigint): Promise<number> {
  let deleted = 0;
  for (const [workspace, ageMs] of await readAges(options)) {
    deleted += await deleteOlder(options, workspace, nowNs - BigInt(Math.round(ageMs)) * 1_000_000n);
  }
  return deleted;
}

/** The age limit of each workspace that does not keep its runs forever. */
async function readAges({
  collector,
  ages,
}: Pick<RetentionOptions, "collector" | "ages">): Promise<Map<string, number>> {
  const { store } = collector;
  const [rows, workspaces] = await Promise.all([readSettings(store, "retention_days"), readWorkspaces(store)]);
  const set = new Map(rows.map(({ workspace, value }) => [workspace, JSON.parse(value) as number | null]));
  const found = new Map<string, number>();
  for (const workspace of workspaces) {
    const days = set.get(workspace);
    const ageMs = days === undefined ? configuredAgeMs(ages, workspace) : days === null ? null : days * dayMs;
    if (ageMs !== null) found.set(workspace, ageMs);
  }
  return found;
}

async function deleteOlder(options: RetentionOptions, workspace: string, oldestNs: bigint): Promise<number> {
  const { collector, order } = options;
  let deleted = 0;
  await stored(options);
  const found = await readOlder(collector.store, { workspace }, oldestNs);
  for (let at = 0; at < found.length; at += runsAtOnce) {
    const some = found.slice(at, at + runsAtOnce);
    const runs = at === 0 ? some : await findStillOld(options, workspace, some, oldestNs);
    if (runs.length === 0) continue;
    // A run may have received something meanwhile.
    const { position } = await order({ workspace, runs, author: "retention", beforeNs: oldestNs });
    await collector.queryable(position);
    deleted += runs.length;
  }
  return deleted;
}

/** The runs deleted before took a while, in which these may have received records, also in new groups. */
async function findStillOld(
  options: RetentionOptions,
  workspace: string,
  runs: readonly DeletedRun[],
  oldestNs: bigint,
): Promise<DeletedRun[]> {
  const { store } = options.collector;
  await stored(options);
  const ids = runs.map(({ runId }) => runId);
  const groupKeys = (await readGroupsOfRuns(store, workspace, ids)).map((group) => group.groupKey);
  return readOlder(store, { workspace, groupKeys }, oldestNs);
}

async function readOlder(store: Store, scope: GroupScope, oldestNs: bigint): Promise<DeletedRun[]> {
  const facts = await readRunFacts(store, scope);
  return facts.flatMap(({ runId, groups }) => {
    const lastNs = groups.reduce((last, group) => (group.lastReceivedNs > last ? group.lastReceivedNs : last), 0n);
    // A run that has only stored files has no such time and is kept.
    const isOld = lastNs > 0n && lastNs < oldestNs;
    return isOld ? [{ runId, groupKeys: groups.map((group) => group.groupKey) }] : [];
  });
}

/** Waits until everything accepted so far is stored, so that it counts. */
async function stored({ collector, signal }: RetentionOptions): Promise<void> {
  await (signal ? Promise.race([collector.drained(), aborted(signal)]) : collector.drained());
  signal?.throwIfAborted();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
