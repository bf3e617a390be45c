// The components of a workspace that are in memory: merging, and finding those that may be one process.
//
// Rows in memory refer to their component by a number. When the component is merged into another or dropped, the number stays
// valid as long as such rows exist, and leads to where the component is now.

import { atOnce } from "#base/turns.ts";
import type { GroupName } from "#model/names.ts";
import { absorb, Component, isOnlyRootMarks } from "./component.ts";
import { distanceNs, mayEverJoin, mayShareRows } from "./sessions.ts";
import { PassedPlaces, TimeOrder } from "./time-order.ts";

const pauseProcesses = 1024;

export interface Merge {
  readonly gone: Component;
  readonly into: Component;
}

export class ComponentSet {
  private readonly items = new Map<number, Component>();
  /** Numbers of components that were merged, where they went, and in which generation of rows. */
  private readonly moved = new Map<number, { to: number; readonly generation: number }>();
  private readonly byKey = new Map<string, number>();
  private readonly byProcess = new Map<string, TimeOrder>();
  /** By number, the processes that other components have too. They are few, even if a component has thousands of processes. */
  private readonly shared = new Map<number, Set<string>>();
  private readonly bySource = new Map<string, TimeOrder>();
  /** Those of `bySource` that have nothing but root marks. They are few, even if one key sends for thousands of processes. */
  private readonly straysBySource = new Map<string, TimeOrder>();
  /** By number, where components with few processes are filed: nearly every batch changes only their times. */
  private readonly filed = new Map<number, Filed>();
  private merges: Merge[] = [];
  private next = 1;
  /** The generation of rows that is filled now. */
  generation = 0;

  get size(): number {
    return this.items.size;
  }

  add(workspace: string, groupKey: GroupName): number {
    return this.put(new Component(workspace, groupKey));
  }

  /** A component, new or from the store. */
  put(component: Component): number {
    const at = this.next++;
    this.items.set(at, component);
    for (const key of component.groupKeys) this.byKey.set(key, at);
    return at;
  }

  /** The component that owns this key, or the one it was merged into. */
  ofKey(groupKey: GroupName): number | undefined {
    const at = this.byKey.get(groupKey);
    return at === undefined ? undefined : this.find(at);
  }

  /** The number of the component that this one has become; for a deleted one, a number without a component. */
  find(index: number): number {
    let root = index;
    for (let next = this.moved.get(root); next !== undefined; next = this.moved.get(root)) root = next.to;
    return root;
  }

  has(index: number): boolean {
    return this.items.has(this.find(index));
  }

  get(index: number): Component {
    return this.items.get(index) ?? (this.items.get(this.find(index)) as Component);
  }

  /** Merges two components and returns the number of the one that stays: the older one, under whose key rows are stored. */
  union(a: number, b: number): number {
    const left = this.find(a);
    const right = this.find(b);
    if (left === right) return left;
    const stays = Math.min(left, right);
    const goes = Math.max(left, right);
    const gone = this.items.get(goes) as Component;
    const into = this.items.get(stays) as Component;
    this.unindex(goes, gone);
    absorb(into, gone);
    for (const key of gone.groupKeys) this.byKey.set(key, stays);
    this.items.delete(goes);
    this.moved.set(goes, { to: stays, generation: this.generation });
    this.merges.push({ gone, into });
    this.index(stays);
    return stays;
  }

  /** The key was never used for rows. */
  forgetKey(index: number, groupKey: GroupName): void {
    this.get(index).groupKeys.delete(groupKey);
    this.byKey.delete(groupKey);
  }

  /** The merges since the last call. */
  takeMerges(): Merge[] {
    const { merges } = this;
    if (merges.length > 0) this.merges = [];
    return merges;
  }

  /** Files the component under its sources, processes and times; to be called after one of them changed. */
  index(index: number): void {
    atOnce(this.indexInSteps(index));
  }

  /** The same with pauses among many processes. */
  *indexInSteps(index: number): Generator<void, void> {
    const root = this.find(index);
    const component = this.items.get(root) as Component;
    if (this.fileAgain(root, component)) return;
    const orders: TimeOrder[] = [];
    for (const source of component.sources) {
      for (const process of component.processes) {
        if (orders.push(this.fileProcess(toProcessKey(source, process), root, component)) % pauseProcesses === 0) yield;
      }
    }
    const isStray = isOnlyRootMarks(component);
    for (const source of component.sources) {
      orders.push(addTo(this.bySource, source, root, component));
      if (isStray) orders.push(addTo(this.straysBySource, source, root, component));
      else removeFrom(this.straysBySource, source, root);
    }
    const { sources, processes } = component;
    if (orders.length <= filedMax)
      this.filed.set(root, { orders, sources: sources.size, processes: processes.size, isStray });
    else this.filed.delete(root);
  }

  /** Refiles a component under the same keys by its new times; false when its keys have changed. */
  private fileAgain(root: number, component: Component): boolean {
    const filed = this.filed.get(root);
    // Sources and processes are only ever added.
    if (filed?.sources !== component.sources.size || filed.processes !== component.processes.size) return false;
    if (filed.isStray !== isOnlyRootMarks(component)) return false;
    for (const order of filed.orders) order.put(root, component);
    return true;
  }

  /** Every component in memory whose session may depend on this one; `others` are all that changed since the last announcement. */
  neighbourhood(index: number, gapNs: bigint, others?: ReadonlySet<number>): number[] {
    const first = this.find(index);
    if (this.isAlone(first)) return [first];
    const changed = others ?? new Set([index]);
    const near: Near = { seen: new Set([first]), passed: new Map() };
    for (const at of near.seen) {
      const component = this.items.get(at) as Component;
      const shared = this.shared.get(at);
      if (shared !== undefined) {
        const mayJoin = changed.has(at) ? mayJoinOrPart(component) : mayEverJoin;
        for (const key of shared) this.addNear(near, component, this.byProcess.get(key), gapNs * 6n, mayJoin);
      }
      const others = this.othersBySource(component);
      for (const source of component.sources) this.addNear(near, component, others.get(source), gapNs);
    }
    return [...near.seen];
  }

  /** No other component in memory shares a process or a stray mark with it, at any time. */
  private isAlone(number: number): boolean {
    if (this.shared.has(number)) return false;
    const component = this.items.get(number) as Component;
    const others = this.othersBySource(component);
    for (const source of component.sources) if (others.has(source)) return false;
    return true;
  }

  private othersBySource(component: Component): ReadonlyMap<string, TimeOrder> {
    return isOnlyRootMarks(component) ? this.bySource : this.straysBySource;
  }

  /** Whether any component in memory may be of the same process as `other`, which is not in memory, or share rows with it. */
  mayBeTied(other: Component, gapNs: bigint): boolean {
    return processKeys(other).some((key) => {
      const order = this.byProcess.get(key);
      const [from, to] = order?.placesNear(other, gapNs * 6n) ?? [0, 0];
      for (let place = from; place < to; place++) {
        const component = this.get((order as TimeOrder).at(place));
        if (distanceNs(component, other) > gapNs * 6n) continue;
        if (mayEverJoin(component, other) || mayShareRows(component, other)) return true;
      }
      return false;
    });
  }

  entries(): MapIterator<[number, Component]> {
    return this.items.entries();
  }

  /** Drops a component that is stored or was deleted. Rows in memory that refer to it have no owner then. */
  drop(index: number): void {
    const component = this.items.get(index);
    if (component === undefined) return;
    this.unindex(index, component);
    for (const key of component.groupKeys) if (this.byKey.get(key) === index) this.byKey.delete(key);
    this.items.delete(index);
  }

  /** No row in memory is of this generation or an older one, so numbers of components that went by then are not needed. */
  forgetMoves(generation: number): void {
    for (const [index, { generation: went }] of this.moved) if (went <= generation) this.moved.delete(index);
  }

  private fileProcess(key: string, number: number, component: Component): TimeOrder {
    const order = addTo(this.byProcess, key, number, component);
    if (order.size === 1) return order;
    // When the second one is filed, the first one learns of it too.
    if (order.size === 2) for (let place = 0; place < 2; place++) this.share(order.at(place), key);
    else this.share(number, key);
    return order;
  }

  private share(number: number, key: string): void {
    const keys = this.shared.get(number);
    if (keys === undefined) this.shared.set(number, new Set([key]));
    else keys.add(key);
  }

  private unindex(index: number, component: Component): void {
    this.filed.delete(index);
    for (const key of processKeys(component)) {
      removeFrom(this.byProcess, key, index);
      const left = this.byProcess.get(key);
      if (left?.size === 1) this.shared.get(left.at(0))?.delete(key);
    }
    this.shared.delete(index);
    for (const source of component.sources) {
      removeFrom(this.bySource, source, index);
      removeFrom(this.straysBySource, source, index);
    }
  }

  private addNear(
    { seen, passed }: Near,
    component: Component,
    order: TimeOrder | undefined,
    farthestNs: bigint,
    mayJoin: (a: Component, b: Component) => boolean = () => true,
  ): void {
    if (order === undefined) return;
    const places = passed.get(order) ?? new PassedPlaces();
    passed.set(order, places);
    const [from, to] = order.placesNear(component, farthestNs);
    for (let place = places.next(from); place < to; place = places.next(place + 1)) {
      const at = order.at(place);
      const other = this.items.get(at) as Component;
      if (!seen.has(at) && (distanceNs(component, other) > farthestNs || !mayJoin(component, other))) continue;
      seen.add(at);
      places.pass(place);
    }
  }
}

/** A change may also part a component from others: those that were announced to be of one process with it. */
function mayJoinOrPart({ told }: Component): typeof mayEverJoin {
  const before = new Set(Array.from(told.values(), ({ signature }) => signature));
  return (a, b) => mayEverJoin(a, b) || before.has(b.told.values().next().value?.signature ?? "");
}

/** Where a component is filed, and the facts that decided it. */
interface Filed {
  readonly orders: readonly TimeOrder[];
  readonly sources: number;
  readonly processes: number;
  readonly isStray: boolean;
}

const filedMax = 8;

interface Near {
  readonly seen: Set<number>;
  /** The places already seen in each order, so that thousands near each other are looked at once and not in pairs. */
  readonly passed: Map<TimeOrder, PassedPlaces>;
}

export function processKeys(component: { sources: Iterable<string>; processes: Iterable<string> }): string[] {
  return [...component.sources].flatMap((source) =>
    [...component.processes].map((process) => toProcessKey(source, process)),
  );
}

function toProcessKey(source: string, process: string): string {
  return `${source}\n${process}`;
}

function addTo(orders: Map<string, TimeOrder>, key: string, number: number, component: Component): TimeOrder {
  let order = orders.get(key);
  if (order === undefined) {
    order = new TimeOrder();
    orders.set(key, order);
  }
  order.put(number, component);
  return order;
}

function removeFrom(orders: Map<string, TimeOrder>, key: string, number: number): void {
  const order = orders.get(key);
  if (order?.delete(number) && order.size === 0) orders.delete(key);
}
