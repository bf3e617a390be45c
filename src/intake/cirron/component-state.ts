// A component as one small stored row: everything that grouping needs to know of rows that memory has dropped.

import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Awaited } from "./awaited.ts";
import {
  type Component,
  createComponent,
  nameOf,
  type SessionSpan,
  type ToldGroup,
  type UnresolvedParent,
} from "./component.ts";

/** The JSON of the `state` column. Times are text: they have 64 bits. */
interface ComponentState {
  readonly keys: readonly string[];
  readonly overrides: readonly string[];
  readonly processes: readonly string[];
  readonly threads: readonly string[];
  readonly sessions: readonly (Omit<SessionSpan, "startNs" | "endNs"> & { startNs: string; endNs: string })[];
  readonly unresolved: readonly UnresolvedParent[];
  readonly earliest: { readonly ns: string; readonly id: string };
  readonly spans: number;
  readonly forked: boolean;
  readonly imported: boolean;
  readonly told: readonly (readonly [string, ToldGroup])[];
  readonly aliases: readonly string[];
}

export type ComponentRow = StateRow<"cirron_components">;

export function toStateChange(component: Component): StateChange {
  const state: ComponentState = {
    keys: [...component.groupKeys],
    overrides: [...component.runOverrides],
    processes: [...component.processes],
    threads: [...component.threads],
    sessions: [...component.sessions.values()].map((session) => ({
      ...session,
      startNs: session.startNs.toString(),
      endNs: session.endNs.toString(),
    })),
    unresolved: [...component.unresolved.values()].map(({ id, hasEpochChild, leads }) => ({
      id,
      hasEpochChild,
      leads,
    })),
    earliest: { ns: component.earliest.ns.toString(), id: component.earliest.id },
    spans: component.spans,
    forked: component.forked,
    imported: component.imported,
    told: [...component.told],
    aliases: [...component.aliases],
  };
  return {
    table: "cirron_components",
    row: {
      group_key: nameOf(component),
      workspace: component.workspace,
      merged_into: "",
      first_ns: component.firstNs,
      last_ns: component.lastNs,
      sources: JSON.stringify([...component.sources]),
      state: JSON.stringify(state),
      version: component.version,
    },
  };
}

/** Of a component that was merged into another only the way there is kept. */
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

/** `awaited` makes what is awaited of what is stored of it. */
export function fromStateRow(row: ComponentRow, awaited: (parent: UnresolvedParent) => Awaited): Component {
  const state = JSON.parse(row.state) as ComponentState;
  const component = createComponent(row.workspace, row.group_key);
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
