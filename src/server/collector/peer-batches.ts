// What other collectors have stored of Cirron, as far as it concerns this one: batches that may come here again, and
// groups that belong to components in this one's memory. Of everything else only the batch's name is noted.

import { nowNs } from "#base/clock.ts";
import type { Component } from "#intake/cirron/component.ts";
import { processKeys } from "#intake/cirron/component-set.ts";
import { spanKey } from "#intake/cirron/stored-group.ts";
import type { CirronWorkspace } from "#intake/cirron/workspace.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { readComponentRows, readGroupsOfIds } from "#store/reader/cirron-identity.ts";
import { readRecentBatches } from "#store/reader/restore.ts";
import { removeCopies } from "#store/remove-copies.ts";
import type { Collector } from "./collector.ts";
import { readStoredGroups } from "./stored-groups.ts";

export interface PeerBatch {
  readonly batchId: string;
  /** The key that its rows are stored under. */
  readonly groupKey: string;
}

export async function takePeerBatches(collector: Collector, batches: readonly PeerBatch[]): Promise<void> {
  const { applier } = collector;
  for (const [workspace, some] of Map.groupBy(batches, ({ groupKey }) => parseGroupKey(groupKey).workspace)) {
    const state = applier.state.cirron.of(workspace);
    const isCopied = some.filter(({ batchId, groupKey }) => isKnownElsewhere(state, batchId, groupKey));
    state.ledger.note(some.map(({ batchId }) => batchId));
    const keys = new Set(some.map(({ groupKey }) => groupKey));
    const related = await findRelated(collector, state, keys);
    for (const { groupKey } of isCopied) related.add(groupKey);
    if (related.size === 0) continue;
    await takeGroups(collector, workspace, related, isCopied);
  }
}

/** Batches that the store has since a time, wherever they were taken. */
export async function readPeerBatches({ store }: Collector, sinceNs: bigint): Promise<PeerBatch[]> {
  const rows = await readRecentBatches(store, sinceNs);
  return rows.map(({ batch_id, group_key }) => ({ batchId: batch_id, groupKey: group_key }));
}

/** This collector has taken the batch too, and stored it under another key. */
function isKnownElsewhere(state: CirronWorkspace, batchId: string, groupKey: string): boolean {
  const known = state.ledger.get(batchId);
  if (known === undefined) return false;
  const at = state.components.ofKey(known.groupKey);
  return at !== undefined && !state.components.get(at).groupKeys.has(groupKey);
}

/** Of these groups, and of those that hold what components here wait for, the ones that belong to components here. */
async function findRelated(
  { store }: Collector,
  state: CirronWorkspace,
  groupKeys: ReadonlySet<string>,
): Promise<Set<string>> {
  const related = new Set([...groupKeys].filter((key) => state.components.ofKey(key) !== undefined));
  const awaited = [...state.components.entries()].flatMap(([, { unresolved }]) => [...unresolved.keys()]);
  for (const { groupKey } of await readGroupsOfIds(store, awaited.map(spanKey)))
    if (parseGroupKey(groupKey).workspace === state.workspace && state.components.ofKey(groupKey) === undefined)
      related.add(groupKey);
  const others = [...groupKeys].filter((key) => !related.has(key));
  const rows = others.length === 0 ? [] : await readComponentRows(store, others);
  for (const row of rows) {
    if (row.merged_into !== "") continue;
    const { processes } = JSON.parse(row.state) as { processes: string[] };
    const facts = { sources: new Set(JSON.parse(row.sources) as string[]), processes: new Set(processes) };
    const isNear = { firstNs: row.first_ns, lastNs: row.last_ns };
    if (state.components.hasNear(processKeys(facts), isNear, state.gapNs)) related.add(row.group_key);
  }
  return related;
}

async function takeGroups(
  collector: Collector,
  workspace: string,
  groupKeys: ReadonlySet<string>,
  copied: readonly PeerBatch[],
): Promise<void> {
  const { store, sequencer, writer, applier } = collector;
  // What is in memory of these components must be stored: they are made anew from what the store has.
  await collector.queryable(sequencer.position.applied);
  const before = applier.state.cirron.of(workspace);
  const keys = new Set(groupKeys);
  for (const key of [...groupKeys, ...copied.map(({ batchId }) => before.ledger.get(batchId)?.groupKey ?? "")]) {
    const at = before.components.ofKey(key);
    if (at !== undefined) for (const own of before.components.get(at).groupKeys) keys.add(own);
  }
  const groups = await readStoredGroups(store, [...keys]);
  const changes = await applier.whenIdle(() => {
    if (applier.state.isLeaving(keys)) return null;
    // It may have begun anew meanwhile.
    const state = applier.state.cirron.of(workspace);
    const isStale = (component: Component): boolean => component.position > writer.stored;
    const resident = new Set([...keys].flatMap((key) => state.components.ofKey(key) ?? []));
    if ([...resident].some((at) => isStale(state.components.get(at)))) return "stale";
    return state.remake(groups, { receivedNs: nowNs(), position: sequencer.position.applied });
  });
  if (changes === null) return;
  // Something came meanwhile: whoever stores it is told of it again.
  if (changes === "stale") return takeGroups(collector, workspace, groupKeys, copied);
  if (changes.length > 0) await collector.change(changes, workspace, "");
  if (keys.size > 1) await removeCopies(store, [...keys]);
}
