// What other collectors have stored of Cirron, taken over into this one's state: so that a batch that comes here again
// is known, rows of one session find each other, and rows that both took are left once.

import { nowNs } from "#base/clock.ts";
import type { Doubles } from "#intake/cirron/workspace.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { type Arrivals, readGroupRows, readRecentBatches } from "#store/reader/restore.ts";
import { removeCopies } from "#store/remove-copies.ts";
import type { Collector } from "./collector.ts";
import { hasDoubles, readCirron, toGroupRow } from "./restore.ts";

/** Where a batch's rows lie: all of them have its key and its time of arrival. */
export interface BatchPlace {
  readonly groupKey: string;
  readonly receivedNs: bigint;
}

/** As many batches as are read at once. */
const placesAtOnce = 500;

export async function foldForeign(collector: Collector, places: readonly BatchPlace[]): Promise<void> {
  for (let at = 0; at < places.length; at += placesAtOnce) {
    const some = places.slice(at, at + placesAtOnce);
    const receivedNs = some.map((place) => place.receivedNs);
    await fold(collector, { groupKeys: [...new Set(some.map(({ groupKey }) => groupKey))], receivedNs });
  }
}

/** Batches that the store has and this collector does not know, of those that came since. */
export async function findForeign({ store, applier }: Collector, sinceNs: bigint): Promise<BatchPlace[]> {
  const rows = await readRecentBatches(store, sinceNs);
  return rows
    .filter(
      ({ batch_id, group_key }) => !applier.cirronOf(parseGroupKey(group_key).workspace).knows(batch_id, group_key),
    )
    .map(({ group_key, received_ns }) => ({ groupKey: group_key, receivedNs: BigInt(received_ns) }));
}

async function fold(collector: Collector, arrivals: Arrivals): Promise<void> {
  const { store, applier } = collector;
  const groups = await readCirron(store, arrivals);
  const told = await readGroupRows<Record<keyof StateRow<"groups">, string>>(store, "groups", arrivals.groupKeys);
  const aliases = await readGroupRows<StateRow<"aliases">>(store, "aliases", arrivals.groupKeys);
  // Whoever deletes reads everything anew when it is done.
  if (applier.isHeld) return;
  for (const row of told) applier.cirronOf(row.workspace).map.restore(toGroupRow(row));
  for (const { workspace, alias, group_key } of aliases) applier.cirronOf(workspace).map.restoreAlias(alias, group_key);
  const outcomes = [...groups].map(([key, { rows, batches }]) =>
    applier.cirronOf(parseGroupKey(key).workspace).fold(key, rows, batches, nowNs()),
  );
  await tellChanges(
    collector,
    outcomes.flatMap(({ changes }) => changes),
  );
  await removeDoubles(collector, outcomes);
}

async function tellChanges(collector: Collector, changes: readonly StateChange[]): Promise<void> {
  if (changes.length > 0) await collector.change(changes, "default", "");
}

/** This collector's own copies may still be on their way, so it waits until they are there. */
export async function removeDoubles(collector: Collector, outcomes: readonly Doubles[]): Promise<void> {
  const doubled = outcomes.filter(hasDoubles);
  if (doubled.length === 0) return;
  await collector.queryable(collector.sequencer.position.applied);
  for (const copies of doubled) await removeCopies(collector.store, copies);
}
