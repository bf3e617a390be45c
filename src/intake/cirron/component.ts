// Layer one of Cirron grouping: links that are final.
// A component is everything tied together by parent ids (also of parents that never arrive), shared row
// ids and common batches. Components only ever merge. Its facts below are what layer two (sessions.ts)
// decides on; each is a function of the set of batches, so that any order of arrival ends the same.

import type { SenderNs } from "#base/clock.ts";
import type { GroupName } from "#model/names.ts";
import type { Awaited } from "./awaited.ts";
import type { LastingText } from "./component-state.ts";

/** An id that spans name as their parent and that has not arrived. */
export interface UnresolvedParent {
  readonly id: string;
  readonly hasEpochChild: boolean;
  /** How many arrived spans lead up to it. */
  readonly leads: number;
}

/** A `cirron.session` span that arrived. */
export interface SessionSpan {
  readonly id: string;
  readonly startNs: SenderNs;
  readonly endNs: SenderNs;
  readonly runId: string | null;
  readonly pipelineId: string | null;
  readonly deploymentId: string | null;
  readonly modelId: string | null;
}

/** What the `groups` table says of one key of a component. */
export interface ToldGroup {
  readonly runId: string;
  /** Everything that the row says, to tell whether it must be written again. */
  readonly signature: string;
}

const noFirstNs = 2n ** 63n - 1n;
const noLastNs = -(2n ** 63n);

export class Component {
  readonly workspace: string;
  /** The immutable keys under which rows of this component are stored. The first is its own name; merged components add
   * theirs. */
  readonly groupKeys: Set<string>;
  readonly sources = new Set<string>();
  readonly runOverrides = new Set<string>();
  /** `pid/rank` of each process seen. */
  readonly processes = new Set<string>();
  readonly threads = new Set<string>();
  readonly sessions = new Map<string, SessionSpan>();
  /** Parents that have not arrived, by their ids. */
  readonly unresolved = new Map<string, Awaited>();
  firstNs: SenderNs = noFirstNs;
  lastNs: SenderNs = noLastNs;
  /** The row with the earliest time of its own; it names the component while nothing better does. */
  earliest: { readonly ns: bigint; readonly id: string } = { ns: noFirstNs, id: "" };
  spans = 0;
  /** The same row came in two batches: a fork, or a client that sends rows again. */
  forked = false;
  /** One of its batches came by import, not from a live client. */
  imported = false;
  /** What was last announced about each of its keys. */
  readonly told = new Map<string, ToldGroup>();
  /** The aliases that were announced, as `<alias>\n<group key>`. */
  readonly aliases = new Set<string>();
  /** The text of its last row that can be reused. */
  lasting: LastingText | null = null;
  /** The version of its stored row. A later version is greater, whatever the clocks say. */
  version = 0n;
  /** The last journal record that changed it. */
  position = 0;
  /** The youngest generation of rows in memory that has rows of it. */
  generation = 0;

  constructor(workspace: string, groupKey: GroupName) {
    this.workspace = workspace;
    this.groupKeys = new Set([groupKey]);
  }
}

/** The key that the component is stored under. */
export function nameOf({ groupKeys }: Component): string {
  return groupKeys.values().next().value as string;
}

/** `toId` is only called for a row that may be the earliest, which few are. */
export function noteRowTime(component: Component, startNs: SenderNs, endNs: SenderNs, toId: () => string): void {
  if (startNs < component.firstNs) component.firstNs = startNs;
  if (endNs > component.lastNs) component.lastNs = endNs;
  const { earliest } = component;
  if (startNs > earliest.ns) return;
  const id = toId();
  if (startNs < earliest.ns || id < earliest.id) component.earliest = { ns: startNs, id };
}

/** A batch of nothing but marks made outside every session. */
export function isOnlyRootMarks(component: Component): boolean {
  return component.spans === 0 && component.processes.size === 0 && component.unresolved.size === 0;
}

/** Moves everything `from` knows into `into`. */
export function absorb(into: Component, from: Component): void {
  for (const key of from.groupKeys) into.groupKeys.add(key);
  for (const source of from.sources) into.sources.add(source);
  for (const run of from.runOverrides) into.runOverrides.add(run);
  for (const process of from.processes) into.processes.add(process);
  for (const thread of from.threads) into.threads.add(thread);
  for (const [id, session] of from.sessions) into.sessions.set(id, session);
  for (const [id, parent] of from.unresolved) into.unresolved.set(id, parent);
  for (const [key, told] of from.told) into.told.set(key, told);
  for (const alias of from.aliases) into.aliases.add(alias);
  into.spans += from.spans;
  into.forked ||= from.forked;
  into.imported ||= from.imported;
  if (from.version > into.version) into.version = from.version;
  into.position = Math.max(into.position, from.position);
  into.generation = Math.max(into.generation, from.generation);
  if (from.firstNs < into.firstNs) into.firstNs = from.firstNs;
  if (from.lastNs > into.lastNs) into.lastNs = from.lastNs;
  const { earliest } = from;
  if (earliest.ns < into.earliest.ns || (earliest.ns === into.earliest.ns && earliest.id < into.earliest.id))
    into.earliest = earliest;
}
