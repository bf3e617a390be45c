// All components of a workspace: merging (union by number of rows) and finding those that may be one process.

import { absorb, type Component, createComponent, isOnlyRootMarks } from "./component.ts";
import { distanceNs } from "./sessions.ts";

export class ComponentSet {
  private readonly items: (Component | null)[] = [];
  private parents = new Uint32Array(256);
  private readonly byKey = new Map<string, number>();
  private readonly byProcess = new Map<string, Set<number>>();
  private readonly bySource = new Map<string, Set<number>>();

  get size(): number {
    return this.items.length;
  }

  add(workspace: string, groupKey: string): number {
    const at = this.items.length;
    if (at === this.parents.length) {
      const grown = new Uint32Array(at * 2);
      grown.set(this.parents);
      this.parents = grown;
    }
    this.parents[at] = at;
    this.items.push(createComponent(workspace, groupKey));
    this.byKey.set(groupKey, at);
    return at;
  }

  /** The component whose rows were first stored under this key, or what it was merged into. */
  ofKey(groupKey: string): number | undefined {
    const at = this.byKey.get(groupKey);
    return at === undefined ? undefined : this.find(at);
  }

  find(index: number): number {
    const { parents } = this;
    let root = index;
    while (parents[root] !== root) root = parents[root] as number;
    let at = index;
    while (at !== root) {
      const next = parents[at] as number;
      parents[at] = root;
      at = next;
    }
    return root;
  }

  get(index: number): Component {
    return this.items[this.find(index)] as Component;
  }

  /** Merges the components of two indexes and returns the one that stays: the older, whose rows have its key. */
  union(a: number, b: number): number {
    const left = this.find(a);
    const right = this.find(b);
    if (left === right) return left;
    const stays = Math.min(left, right);
    const goes = Math.max(left, right);
    const gone = this.items[goes] as Component;
    absorb(this.items[stays] as Component, gone);
    this.parents[goes] = stays;
    this.items[goes] = null;
    for (const key of processKeys(gone)) this.byProcess.get(key)?.delete(goes);
    for (const source of gone.sources) this.bySource.get(source)?.delete(goes);
    return stays;
  }

  /** Files the component under its sources and processes; to be called after either changed. */
  index(index: number): void {
    const root = this.find(index);
    const component = this.items[root] as Component;
    for (const key of processKeys(component)) addTo(this.byProcess, key, root);
    for (const source of component.sources) addTo(this.bySource, source, root);
  }

  /** Every component whose session may depend on this one. */
  neighbourhood(index: number, gapNs: bigint): number[] {
    const seen = new Set([this.find(index)]);
    for (const at of seen) {
      const component = this.items[at] as Component;
      for (const key of processKeys(component))
        this.addNear(seen, component, this.byProcess.get(key), gapNs * 6n, false);
      const onlyStrays = !isOnlyRootMarks(component);
      for (const source of component.sources)
        this.addNear(seen, component, this.bySource.get(source), gapNs, onlyStrays);
    }
    return [...seen];
  }

  all(): number[] {
    return this.items.flatMap((item, at) => (item === null ? [] : [at]));
  }

  private addNear(
    seen: Set<number>,
    component: Component,
    others: ReadonlySet<number> | undefined,
    gapNs: bigint,
    onlyStrays: boolean,
  ): void {
    if (others === undefined || others.size < 2) return;
    for (const at of others) {
      if (seen.has(at)) continue;
      const other = this.items[at] as Component;
      if (onlyStrays && !isOnlyRootMarks(other)) continue;
      if (distanceNs(component, other) <= gapNs) seen.add(at);
    }
  }
}

function processKeys(component: Component): string[] {
  return [...component.sources].flatMap((source) => [...component.processes].map((process) => `${source}\n${process}`));
}

function addTo(map: Map<string, Set<number>>, key: string, value: number): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}
