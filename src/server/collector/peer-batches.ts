// Cirron batches that other collectors have stored, as far as they concern this one: batches that may arrive here
// again, and groups of components in memory here. Of all others only the batch id is noted.

import { nowNs } from "#base/clock.ts";
import { Awaited } from "#intake/cirron/awaited.ts";
import type { Component } from "#intake/cirron/component.ts";
import { type ComponentRow, fromStateRow } from "#intake/cirron/component-state.ts";
import { spanKey } from "#intake/cirron/stored-group.ts";
import type { CirronWorkspace } from "#intake/cirron/workspace.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { GroupName } from "#model/names.ts";
import { readBatchIdsSince, readGroupsOfIds } from "#store/reader/cirron-identity.ts";
import { readBatchesBeyond, readGroupsOfOthers } from "#store/reader/restore.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import { removeCopies } from "#store/remove-copies.ts";
import type { Store } from "#store/store.ts";
import type { Collector } from "./collector.ts";
import { readStoredGroups } from "./stored-groups.ts";

export interface PeerBatch {
  readonly batchId: string;
  /** The group that its rows are stored under. */
  readonly groupKey: GroupName;
}

/** A component as it is stored by the collector that took the batches; 64-bit numbers are text. */
export interface PeerComponent {
  readonly groupKey: GroupName;
  readonly sources: string;
  readonly state: string;
  readonly firstNs: string;
  readonly lastNs: string;
}

export interface TakenBatches {
  /** Batches that concern components in memory. */
  readonly related: readonly PeerBatch[];
  /** Groups of some of them are being deleted. */
  readonly arePutOff: boolean;
}

/** `told` has the components of some groups; the store is asked for the others. */
export async function takePeerBatches(
  collector: Collector,
  batches: readonly PeerBatch[],
  told: readonly PeerComponent[] = [],
): Promise<TakenBatches> {
  const taken = { related: [] as PeerBatch[], arePutOff: false };
  for (const [workspace, some] of Map.groupBy(batches, ({ groupKey }) => parseGroupKey(groupKey).workspace)) {
    const state = collector.applier.state.cirron.of(workspace);
    const copied = some.filter(({ batchId, groupKey }) => isKnownElsewhere(state, batchId, groupKey));
    state.ledger.note(some.map(({ batchId }) => batchId));
    const keys = await findRelated(collector, state, new Set(some.map(({ groupKey }) => groupKey)), told);
    for (const { groupKey } of copied) keys.add(groupKey);
    if (keys.size === 0) continue;
    for (const batch of some) if (keys.has(batch.groupKey)) taken.related.push(batch);
    if (!(await takeGroups(collector, workspace, keys, copied))) taken.arePutOff = true;
  }
  return taken;
}

/**
 * Takes in groups that others wrote to since a time and that are tied to rows which arrived here later. Returns whether
 * there were any groups.
 */
export async function takeNear(collector: Collector, sinceNs: bigint): Promise<boolean> {
  const { id, store, applier } = collector;
  const found = await readGroupsOfOthers(store, sinceNs, id);
  for (const [workspace, some] of Map.groupBy(found, (key) => parseGroupKey(key).workspace)) {
    const state = applier.state.cirron.of(workspace);
    const unknown = some.filter((key) => state.components.ofKey(key) === undefined);
    const related = await findRelated(collector, state, new Set(unknown), []);
    if (related.size > 0) await takeGroups(collector, workspace, related, []);
  }
  return found.length > 0;
}

/** Takes in groups with rows that components here wait for: they belong to the same component. */
export async function takeAwaited(collector: Collector): Promise<void> {
  const { store, applier } = collector;
  for (const { workspace, components } of applier.state.cirron.all()) {
    const awaited = [...components.entries()].flatMap(([, { unresolved }]) => [...unresolved.keys()]);
    if (awaited.length === 0) continue;
    const found = await readGroupsOfIds(store, awaited.map(spanKey));
    const related = found
      .map(({ groupKey }) => groupKey)
      .filter((key) => parseGroupKey(key).workspace === workspace && components.ofKey(key) === undefined);
    if (related.length > 0) await takeGroups(collector, workspace, new Set(related), []);
  }
}

/** Batches that others stored since a time, beyond what is known of their journals. */
export async function readPeerBatches(
  { id, store }: Collector,
  sinceNs: bigint,
  known: ReadonlyMap<string, number>,
): Promise<PeerBatch[]> {
  // Its own batches are in memory, or it has dropped them.
  const rows = await readBatchesBeyond(store, sinceNs, new Map(known).set(id, Number.MAX_SAFE_INTEGER));
  return rows.map(({ batch_id, group_key }) => ({ batchId: batch_id, groupKey: group_key }));
}

/** Notes the ids of all batches since a time, including batches that had nothing new. */
export async function noteBatchIds({ applier, store }: Collector, sinceNs: bigint): Promise<void> {
  const rows = await readBatchIdsSince(store, sinceNs);
  for (const [workspace, some] of Map.groupBy(rows, (row) => row.workspace))
    applier.state.cirron.of(workspace).ledger.note(some.map(({ batch_id }) => batch_id));
}

/** Whether this collector took the same batch and stored it under another key. */
function isKnownElsewhere(state: CirronWorkspace, batchId: string, groupKey: GroupName): boolean {
  const known = state.ledger.get(batchId);
  if (known === undefined) return false;
  const at = state.components.ofKey(known.groupKey);
  return at !== undefined && !state.components.get(at).groupKeys.has(groupKey);
}

/** The groups among these that belong to components here, or may be tied to one. */
async function findRelated(
  { store }: Collector,
  { components, gapNs }: CirronWorkspace,
  groupKeys: ReadonlySet<string>,
  told: readonly PeerComponent[],
): Promise<Set<string>> {
  const related = new Set([...groupKeys].filter((key) => components.ofKey(key) !== undefined));
  // Without components here, nothing can be tied to one.
  if (components.size === 0) return related;
  const others = groupKeys.difference(related);
  const known = new Map(told.map((component) => [component.groupKey, component]));
  const untold = [...others].filter((key) => !known.has(key));
  if (untold.length > 0) for (const row of await readPeerComponents(store, untold)) known.set(row.groupKey, row);
  for (const key of others) {
    const component = known.get(key);
    if (component !== undefined && components.mayBeTied(toComponent(component), gapNs)) related.add(key);
  }
  return related;
}

/** A component that was merged into another one is announced, or read, with that one. */
async function readPeerComponents(store: Store, groupKeys: readonly string[]): Promise<PeerComponent[]> {
  const rows = await readGroupRows(store, "cirron_components", groupKeys);
  return rows.filter(({ merged_into }) => merged_into === "").map(toPeerComponent);
}

export function toPeerComponent({ group_key, sources, state, first_ns, last_ns }: ComponentRow): PeerComponent {
  return { groupKey: group_key, sources, state, firstNs: String(first_ns), lastNs: String(last_ns) };
}

function toComponent({ groupKey, sources, state, firstNs, lastNs }: PeerComponent): Component {
  const times = { first_ns: BigInt(firstNs), last_ns: BigInt(lastNs), version: 0n };
  const { workspace } = parseGroupKey(groupKey);
  const row = { group_key: groupKey, workspace, merged_into: "", sources, state, ...times };
  return fromStateRow(row, (parent) => new Awaited(0, 0, parent));
}

/** Rebuilds the components of these groups from all of their rows. False if a group is being deleted. */
async function takeGroups(
  collector: Collector,
  workspace: string,
  groupKeys: ReadonlySet<string>,
  copied: readonly PeerBatch[],
): Promise<boolean> {
  const { store, sequencer, writer, applier } = collector;
  // The components are rebuilt from the store, so what memory has of them must be stored first.
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
    // The state may have been rebuilt meanwhile.
    const state = applier.state.cirron.of(workspace);
    const isStale = (component: Component): boolean => component.position > writer.stored;
    const resident = new Set([...keys].flatMap((key) => state.components.ofKey(key) ?? []));
    if ([...resident].some((at) => isStale(state.components.get(at)))) return "stale";
    return state.remake(groups, { receivedNs: nowNs(), position: sequencer.position.applied });
  });
  if (changes === null) return false;
  // More of it arrived meanwhile, so it is tried again.
  if (changes === "stale") return takeGroups(collector, workspace, groupKeys, copied);
  if (changes.length > 0) await collector.change(changes, workspace, "");
  if (keys.size > 1) await removeCopies(store, [...keys]);
  return true;
}
