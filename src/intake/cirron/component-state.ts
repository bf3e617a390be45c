// A component as one small stored row: everything that grouping needs to know of rows that memory has dropped.

import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Awaited } from "./awaited.ts";
import { Component, nameOf, type SessionSpan, type ToldGroup, type UnresolvedParent } from "./component.ts";

/** The part of the `state` column's JSON that hardly ever changes. Times are text, because they have 64 bits. */
interface LastingState {
  readonly keys: readonly string[];
  readonly overrides: readonly string[];
  readonly processes: readonly string[];
  readonly threads: readonly string[];
  readonly sessions: readonly (Omit<SessionSpan, "startNs" | "endNs"> & { startNs: string; endNs: string })[];
  readonly told: readonly (readonly [string, ToldGroup])[];
  readonly aliases: readonly string[];
}

/** The part that nearly every batch changes. */
interface CurrentState {
  readonly unresolved: readonly UnresolvedParent[];
  readonly earliest: { readonly ns: string; readonly id: string };
  readonly spans: number;
  readonly forked: boolean;
  readonly imported: boolean;
}

/** The lasting part as text, and what it was made of. */
export interface LastingText {
  readonly sources: string;
  /** An object without its closing brace. */
  readonly state: string;
  readonly keys: readonly string[];
  readonly sessions: readonly SessionSpan[];
  readonly told: readonly ToldGroup[];
  /** The total size of the sets that only grow. */
  readonly grown: number;
}

export type ComponentRow = StateRow<"cirron_components">;

export function toStateChange(component: Component): StateChange {
  // Rows wait until they are stored. Those of one component share the text of its lasting part.
  const { lasting } = component;
  const text = lasting !== null && isStill(lasting, component) ? lasting : toLastingText(component);
  component.lasting = text;
  return {
    table: "cirron_components",
    row: {
      group_key: nameOf(component),
      workspace: component.workspace,
      merged_into: "",
      first_ns: component.firstNs,
      last_ns: component.lastNs,
      sources: text.sources,
      state: `${text.state},${toCurrentText(component)}`,
      version: component.version,
    },
  };
}

/** A `CurrentState` as JSON without its opening brace. It is made for every batch, so no object is built first. */
function toCurrentText({ unresolved, earliest, spans, forked, imported }: Component): string {
  let parents = "";
  for (const { id, hasEpochChild, leads } of unresolved.values()) {
    const parent = `{"id":${JSON.stringify(id)},"hasEpochChild":${hasEpochChild},"leads":${leads}}`;
    parents = parents === "" ? parent : `${parents},${parent}`;
  }
  const first = `{"ns":"${earliest.ns}","id":${JSON.stringify(earliest.id)}}`;
  return `"unresolved":[${parents}],"earliest":${first},"spans":${spans},"forked":${forked},"imported":${imported}}`;
}

function toLastingText(component: Component): LastingText {
  const keys = [...component.groupKeys];
  const sessions = [...component.sessions.values()];
  const state: LastingState = {
    keys,
    overrides: [...component.runOverrides],
    processes: [...component.processes],
    threads: [...component.threads],
    sessions: sessions.map((session) => ({
      ...session,
      startNs: session.startNs.toString(),
      endNs: session.endNs.toString(),
    })),
    told: [...component.told],
    aliases: [...component.aliases],
  };
  return {
    sources: JSON.stringify([...component.sources]),
    state: JSON.stringify(state).slice(0, -1),
    keys,
    sessions,
    told: [...component.told.values()],
    grown: grownOf(component),
  };
}

function grownOf({ sources, runOverrides, processes, threads, aliases }: Component): number {
  return sources.size + runOverrides.size + processes.size + threads.size + aliases.size;
}

function isStill({ keys, sessions, told, grown }: LastingText, component: Component): boolean {
  return (
    grownOf(component) === grown &&
    isSameList(component.groupKeys, keys) &&
    isSameList(component.sessions.values(), sessions) &&
    isSameList(component.told.values(), told)
  );
}

function isSameList<T>(values: Iterable<T>, list: readonly T[]): boolean {
  let at = 0;
  for (const value of values) if (value !== list[at++]) return false;
  return at === list.length;
}

/** The row of a component that was merged into another: only the pointer is kept. */
export function toMergedChange(gone: Component, into: Component): StateChange {
  return {
    table: "cirron_components",
    row: {
      group_key: nameOf(gone),
      workspace: gone.workspace,
      merged_into: nameOf(into),
      first_ns: gone.firstNs,
      last_ns: gone.lastNs,
      sources: "[]",
      state: "",
      version: into.version,
    },
  };
}

/** `awaited` restores an awaited parent. */
export function fromStateRow(row: ComponentRow, awaited: (parent: UnresolvedParent) => Awaited): Component {
  const state = JSON.parse(row.state) as LastingState & CurrentState;
  const component = new Component(row.workspace, row.group_key);
  for (const key of state.keys) component.groupKeys.add(key);
  for (const source of JSON.parse(row.sources) as string[]) component.sources.add(source);
  for (const run of state.overrides) component.runOverrides.add(run);
  for (const process of state.processes) component.processes.add(process);
  for (const thread of state.threads) component.threads.add(thread);
  for (const session of state.sessions) {
    const { startNs, endNs } = session;
    component.sessions.set(session.id, { ...session, startNs: BigInt(startNs), endNs: BigInt(endNs) });
  }
  for (const parent of state.unresolved) component.unresolved.set(parent.id, awaited(parent));
  for (const [key, told] of state.told) component.told.set(key, told);
  for (const alias of state.aliases) component.aliases.add(alias);
  component.firstNs = row.first_ns;
  component.lastNs = row.last_ns;
  component.earliest = { ns: BigInt(state.earliest.ns), id: state.earliest.id };
  component.spans = state.spans;
  component.forked = state.forked;
  component.imported = state.imported;
  component.version = row.version;
  return component;
}
