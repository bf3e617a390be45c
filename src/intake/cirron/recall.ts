// Reads back from the store what memory has dropped and a batch needs: rows by their ids, the components that they
// belong to, and components of the same process near in time. Ids that turn out not to be stored are remembered for the
// batch: its rows with these ids are new.

import { toIdWords } from "#intake/id-map.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { NearQuestion } from "./away-components.ts";
import type { KnownBatch } from "./batch-ledger.ts";
import type { Component } from "./component.ts";
import type { ComponentRow } from "./component-state.ts";
import { fromStateRow } from "./component-state.ts";
import { type AskedId, type Cleared, clearedName, type Needs } from "./needs.ts";
import { type RowKind, saltId } from "./recent-rows.ts";
import { unknownHash } from "./row-taker.ts";
import { namedOutside, type StoredGroupRows } from "./stored-group.ts";
import type { CirronWorkspace } from "./workspace.ts";

export interface StoredId {
  readonly key: bigint;
  readonly groupKey: string;
}

export interface StoredRow {
  readonly kind: RowKind;
  readonly id: string;
  readonly groupKey: string;
  readonly hash: number;
  /** The parent of a span; null when it has none. */
  readonly parentId: string | null;
}

export interface StoredBatch extends KnownBatch {
  readonly batchId: string;
}

/** What is asked of the store about Cirron rows. Every answer waits while the store is away. */
export interface CirronStore {
  findGroups(keys: readonly bigint[]): Promise<readonly StoredId[]>;
  findRows(
    groupKeys: readonly string[],
    ids: Readonly<Record<RowKind, readonly string[]>>,
  ): Promise<readonly StoredRow[]>;
  readComponents(groupKeys: readonly string[]): Promise<readonly ComponentRow[]>;
  findNear(workspace: string, near: NearQuestion): Promise<readonly ComponentRow[]>;
  findBatches(workspace: string, batchIds: readonly string[]): Promise<readonly StoredBatch[]>;
  /** All rows of groups that have no stored component: its plan was lost, or several collectors wrote them. */
  readGroups(groupKeys: readonly string[]): Promise<readonly StoredGroupRows[]>;
}

/** Real spans are not nested deeper; without a limit, rows that form a circle would be asked for forever. */
const ancestorsMax = 256;

export async function recall(
  state: CirronWorkspace,
  store: CirronStore,
  needs: Needs,
  cleared: Cleared,
  leaving: ReadonlyMap<string, Promise<void>>,
): Promise<void> {
  const { workspace, deletions } = state;
  const [found, batches, near] = await Promise.all([
    needs.ids.length === 0 ? [] : store.findGroups(needs.ids.map(({ key }) => key)),
    needs.batchIds.length === 0 ? [] : store.findBatches(workspace, needs.batchIds),
    needs.near === null ? [] : store.findNear(workspace, needs.near),
  ]);
  const groupsOf = Map.groupBy(
    found.filter(({ groupKey }) => parseGroupKey(groupKey).workspace === workspace),
    ({ key }) => key,
  );
  const isFound = (asked: AskedId): boolean => groupsOf.has(asked.key);
  const groupKeys = new Set([...groupsOf.values()].flat().map(({ groupKey }) => groupKey));
  for (const key of groupKeys) {
    const gone = leaving.get(key);
    // Its rows are being removed: once they are gone, the same question finds nothing.
    if (gone !== undefined) return gone;
  }
  const components = await readComponents(state, store, [...groupKeys, ...batches.map(({ groupKey }) => groupKey)]);
  const rows = await readRows(state, store, components, groupKeys, needs.ids.filter(isFound));
  // What was deleted meanwhile must not come back. The batch is not ready then, and all of this is asked again.
  if (state.deletions !== deletions) return;
  for (const component of components) takeComponent(state, component);
  takeRows(state, needs.ids, groupsOf, rows);
  if (needs.near !== null) state.away.cover(needs.facts, needs.near);
  for (const { batchId, ...batch } of batches) state.ledger.recall(batchId, batch);
  // An id whose key was found, but under which its group has no such row, is as new as one whose key was not found.
  for (const asked of needs.ids) if (!isKnown(state, asked)) cleared.names.add(clearedName(asked));
  cleared.batch = true;
  await takeNear(state, store, near);
}

/** Neighbours have neighbours: sessions are worked out from all of them together. */
async function takeNear(state: CirronWorkspace, store: CirronStore, rows: readonly ComponentRow[]): Promise<void> {
  const queue = [...rows];
  for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
    if (state.components.ofKey(row.group_key) !== undefined) continue;
    takeComponent(state, row);
    const component = state.components.get(state.components.ofKey(row.group_key) as number);
    const question = state.away.questionFor(component, state.gapNs);
    if (question === null) continue;
    const { deletions } = state;
    const found = await store.findNear(state.workspace, question);
    if (state.deletions !== deletions) return;
    state.away.cover(component, question);
    for (const other of found) queue.push(other);
  }
}

type LoadedComponent = ComponentRow | StoredGroupRows;

/** The components of these keys that are not in memory, each followed to what it was merged into. */
async function readComponents(
  state: CirronWorkspace,
  store: CirronStore,
  groupKeys: readonly string[],
): Promise<LoadedComponent[]> {
  const loaded = new Map<string, LoadedComponent>();
  let wanted = new Set(groupKeys.filter((key) => state.components.ofKey(key) === undefined));
  while (wanted.size > 0) {
    const rows = await store.readComponents([...wanted]);
    const known = new Set(rows.map((row) => row.group_key));
    const next = new Set<string>();
    for (const row of rows) {
      if (row.merged_into === "") loaded.set(row.group_key, row);
      else if (!loaded.has(row.merged_into) && state.components.ofKey(row.merged_into) === undefined)
        next.add(row.merged_into);
    }
    const others = [...wanted].filter((key) => !known.has(key));
    const read = others.length === 0 ? [] : await store.readGroups(others);
    // Ids are stored before their rows, and after a crash the rows may be missing.
    const groups = read.filter(({ rows, told }) => told !== null || hasRows(rows));
    for (const group of groups) loaded.set(group.groupKey, group);
    // Their rows may name spans of more such groups: those are one component with them.
    const named = new Set(groups.flatMap(namedOutside));
    for (const { groupKey } of named.size === 0 ? [] : await store.findGroups([...named]))
      if (!loaded.has(groupKey) && !wanted.has(groupKey) && state.components.ofKey(groupKey) === undefined)
        next.add(groupKey);
    wanted = next;
  }
  return [...loaded.values()];
}

/** The rows that were asked for and, for spans, their ancestors, up to what is known or awaited. */
async function readRows(
  state: CirronWorkspace,
  store: CirronStore,
  components: readonly LoadedComponent[],
  groupKeys: ReadonlySet<string>,
  asked: readonly AskedId[],
): Promise<Map<string, StoredRow>> {
  const rows = new Map<string, StoredRow>();
  if (asked.length === 0) return rows;
  const idsOf = (kind: RowKind): string[] => asked.filter((one) => one.kind === kind).map(({ id }) => id);
  const keys = new Set(groupKeys);
  for (const component of components) if ("state" in component) for (const key of stateKeys(component)) keys.add(key);
  let wanted: Record<RowKind, string[]> = { span: idsOf("span"), mark: idsOf("mark"), snapshot: idsOf("snapshot") };
  const seen = new Set(wanted.span);
  for (let round = 0; round < ancestorsMax; round++) {
    const found = await store.findRows([...keys], wanted);
    for (const row of found) rows.set(`${row.kind}${row.id}`, row);
    const above: string[] = [];
    // Thousands of spans may lie below one.
    for (const { kind, parentId } of found) {
      if (kind !== "span" || parentId === null || seen.has(parentId)) continue;
      seen.add(parentId);
      if (!rows.has(`span${parentId}`) && !isInMemory(state, parentId)) above.push(parentId);
    }
    if (above.length === 0) break;
    wanted = { span: above, mark: [], snapshot: [] };
  }
  return rows;
}

function hasRows({ spans, marks, snapshots }: StoredGroupRows["rows"]): boolean {
  return spans.span_id.length + marks.mark_id.length + snapshots.snapshot_id.length > 0;
}

function stateKeys({ state }: ComponentRow): string[] {
  return (JSON.parse(state) as { keys: string[] }).keys;
}

function isInMemory({ recent, components }: CirronWorkspace, spanId: string): boolean {
  loadText(spanId, "span");
  const entry = recent.find();
  return entry >= 0 && recent.isArrived(entry) && components.has(recent.ownerOf(entry));
}

function isKnown({ recent, components }: CirronWorkspace, { id, kind }: AskedId): boolean {
  loadText(id, kind);
  const entry = recent.find();
  return entry >= 0 && components.has(recent.ownerOf(entry));
}

function takeComponent(state: CirronWorkspace, loaded: LoadedComponent): void {
  if (!("state" in loaded)) {
    state.takeStoredGroup(loaded);
    return;
  }
  if (state.components.ofKey(loaded.group_key) !== undefined) return;
  const time = Number(loaded.last_ns);
  const parents: string[] = [];
  const component: Component = fromStateRow(loaded, (parent) => {
    parents.push(parent.id);
    return state.awaited.add(state.recent.generation, parent);
  });
  const at = state.components.put(component);
  component.generation = state.recent.generation;
  for (const id of parents) {
    const awaited = component.unresolved.get(id);
    if (awaited === undefined) continue;
    loadText(id, "span");
    state.recent.know(at, 0, awaited.number, time);
  }
  state.components.index(at);
}

function takeRows(
  state: CirronWorkspace,
  asked: readonly AskedId[],
  groupsOf: ReadonlyMap<bigint, readonly StoredId[]>,
  rows: ReadonlyMap<string, StoredRow>,
): void {
  const leadOf = (row: StoredRow, depth = 0): number => {
    const { parentId } = row;
    if (row.kind !== "span" || parentId === null || depth > ancestorsMax) return 0;
    const above = rows.get(`span${parentId}`);
    if (above !== undefined) return leadOf(above, depth + 1);
    loadText(parentId, "span");
    const entry = state.recent.find();
    return entry < 0 ? 0 : state.recent.leadOf(entry);
  };
  for (const { kind, id, key, time } of asked) {
    const row = rows.get(`${kind}${id}`);
    const groupKey = row?.groupKey ?? groupsOf.get(key)?.[0]?.groupKey;
    let owner = groupKey === undefined ? undefined : state.components.ofKey(groupKey);
    // One id in two components makes them one.
    for (const other of groupsOf.get(key) ?? []) {
      const also = state.components.ofKey(other.groupKey);
      if (owner !== undefined && also !== undefined) owner = state.components.union(owner, also);
    }
    // An id without a row is a span that rows name and that never arrived. For a mark, it is a chance equality of keys.
    if (owner === undefined || (row === undefined && kind !== "span")) continue;
    const lead = row === undefined ? 0 : leadOf(row);
    loadText(id, kind);
    if (row !== undefined) state.recent.know(owner, row.hash === 0 ? unknownHash : row.hash, lead, time);
    else if (state.recent.find() < 0) state.recent.know(owner, 0, 0, time);
    state.components.get(owner).generation = state.recent.generation;
  }
}

const textEncoder = new TextEncoder();

function loadText(id: string, kind: RowKind): void {
  toIdWords(textEncoder.encode(id));
  saltId(kind);
}
