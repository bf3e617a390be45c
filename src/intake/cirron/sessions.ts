// Layer two of Cirron grouping: which components were one process.
// A batch carries no identity of its process, so components are joined by (source, pid, rank) when they
// are near in time. These joins are guesses: a session span that comes late can prove two groups apart.
// So they are never stored, but computed again, as a pure function of the components, whenever one
// of them changes.

import type { SenderNs } from "#base/clock.ts";
import { type Component, isOnlyRootMarks, type SessionSpan, type UnresolvedParent } from "./component.ts";

export interface Session {
  readonly members: readonly Component[];
  /** The trace id: the root scope of the process. */
  readonly rootId: string;
  readonly rootKind: "session" | "unresolved_parent" | "placeholder" | "none";
  readonly span: SessionSpan | null;
}

interface Cluster {
  members: Component[];
  sessions: Map<string, SessionSpan>;
  unresolved: UnresolvedParent[];
  threads: Set<string>;
  /** The runs that paths or wrappers named. */
  overrides: Set<string>;
  firstNs: SenderNs;
  lastNs: SenderNs;
}

/** How much longer a gap may be when both sides share a thread id. */
const sharedThreadFactor = 6n;

export function toSessions(components: readonly Component[], gapNs: bigint): Session[] {
  const [only] = components;
  if (components.length === 1 && only !== undefined && !isOnlyRootMarks(only)) return [toSession(toCluster(only))];
  const strays = components.filter((component) => isOnlyRootMarks(component));
  const clusters = joinNear(
    components.filter((component) => !isOnlyRootMarks(component)),
    gapNs,
  );
  const sessions = clusters.map(toSession);
  for (const stray of strays) adopt(stray, clusters, sessions, gapNs);
  return sessions;
}

/**
 * Whether two components, as they are, may be one process. A thousand containers whose pid is 1, or whose runs have different
 * names, have nothing to do with each other, and a batch of one must not cause a look at all of them.
 */
export function mayEverJoin(a: Component, b: Component): boolean {
  if (a.runOverrides.size > 0 && b.runOverrides.size > 0 && !sharesAny(a.runOverrides, b.runOverrides)) return false;
  if (a.sessions.size > 0 && b.sessions.size > 0) return false;
  if (a.sessions.size > 0) return hangsWithin({ ...b, unresolved: [...b.unresolved.keys()] }, a);
  if (b.sessions.size > 0) return hangsWithin({ ...a, unresolved: [...a.unresolved.keys()] }, b);
  return a.unresolved.size === 0 || b.unresolved.size === 0 || sharesAny(a.threads, b.threads);
}

/** Whether two components of one process at one time may have copies of the same rows. */
export function mayShareRows(a: Component, b: Component): boolean {
  return (
    sharesAny(a.threads, b.threads) ||
    !new Set(a.sessions.keys()).isDisjointFrom(b.sessions) ||
    !new Set(a.unresolved.keys()).isDisjointFrom(b.unresolved)
  );
}

/** A batch with only "root" marks belongs to the session near it, if there is exactly one. */
function adopt(stray: Component, clusters: readonly Cluster[], sessions: Session[], gapNs: bigint): void {
  const near = clusters.flatMap((cluster, at) =>
    sharesAny(stray.sources, sourcesOf(cluster)) &&
    distanceNs(toCluster(stray), cluster) <= gapNs &&
    mayBeOneRun(toCluster(stray), cluster)
      ? [at]
      : [],
  );
  const only = near.length === 1 ? (near[0] as number) : -1;
  const session = sessions[only];
  if (session === undefined) {
    sessions.push({ members: [stray], rootId: placeholderId([stray]), rootKind: "none", span: null });
    return;
  }
  sessions[only] = { ...session, members: [...session.members, stray] };
}

/** Joins the nearest pairs first, so that the outcome does not depend on the order of the input. */
function joinNear(components: readonly Component[], gapNs: bigint): Cluster[] {
  if (components.length < 2) return components.map(toCluster);
  if (areAlike(components)) return joinAlike(components, gapNs);
  const clusterOf = new Map<Component, Cluster>(components.map((component) => [component, toCluster(component)]));
  for (const { a, b } of nearPairs(components, gapNs)) {
    const left = clusterOf.get(a) as Cluster;
    const right = clusterOf.get(b) as Cluster;
    if (left === right || !mayJoin(left, right, gapNs)) continue;
    const joined = mergeClusters(left, right);
    for (const member of joined.members) clusterOf.set(member, joined);
  }
  return [...new Set(clusterOf.values())];
}

/** Only their times differ, as with a service that sends each request in its own batch. */
function areAlike(components: readonly Component[]): boolean {
  const [first] = components;
  return components.every(
    (one) =>
      one.sessions.size + one.unresolved.size === 0 &&
      isEqual(one.runOverrides, (first as Component).runOverrides) &&
      isEqual(one.sources, (first as Component).sources) &&
      isEqual(one.processes, (first as Component).processes) &&
      isEqual(one.threads, (first as Component).threads),
  );
}

/** For such components, one pass in order of time gives the same result as trying all pairs. */
function joinAlike(components: readonly Component[], gapNs: bigint): Cluster[] {
  const clusters: Cluster[] = [];
  for (const component of [...components].sort((a, b) =>
    a.firstNs < b.firstNs ? -1 : a.firstNs > b.firstNs ? 1 : 0,
  )) {
    const last = clusters.at(-1);
    const farthestNs = component.threads.size > 0 ? gapNs * sharedThreadFactor : gapNs;
    if (last === undefined || distanceNs(last, component) > farthestNs) {
      clusters.push(toCluster(component));
      continue;
    }
    last.members.push(component);
    if (component.lastNs > last.lastNs) last.lastNs = component.lastNs;
  }
  return clusters;
}

interface Pair {
  readonly a: Component;
  readonly b: Component;
  readonly distance: bigint;
  readonly shareThread: boolean;
}

function nearPairs(components: readonly Component[], gapNs: bigint): Pair[] {
  const sorted = [...components].sort(byEarliestRow);
  const pairs: Pair[] = [];
  for (const [at, a] of sorted.entries()) {
    for (const b of sorted.slice(at + 1)) {
      if (!sharesAny(a.sources, b.sources) || !sharesAny(a.processes, b.processes)) continue;
      const distance = distanceNs(a, b);
      if (distance <= gapNs * sharedThreadFactor)
        pairs.push({ a, b, distance, shareThread: sharesAny(a.threads, b.threads) });
    }
  }
  return pairs.sort(byCloseness);
}

/** Two containers may use one pid at the same time: of processes equally near, the one with the same thread comes first. */
function byCloseness(x: Pair, y: Pair): number {
  if (x.distance !== y.distance) return x.distance < y.distance ? -1 : 1;
  return Number(y.shareThread) - Number(x.shareThread);
}

/** Uses only the rows' own times and ids, so the order does not depend on arrival. */
function byEarliestRow(a: Component, b: Component): number {
  if (a.earliest.ns !== b.earliest.ns) return a.earliest.ns < b.earliest.ns ? -1 : 1;
  return a.earliest.id < b.earliest.id ? -1 : 1;
}

function mayJoin(a: Cluster, b: Cluster, gapNs: bigint): boolean {
  const shareThread = sharesAny(a.threads, b.threads);
  const distance = distanceNs(a, b);
  if (distance > gapNs && !shareThread) return false;
  if (!mayBeOneRun(a, b)) return false;
  if (a.sessions.size > 0 && b.sessions.size > 0) return false;
  if (a.sessions.size > 0) return hangsWithin(b, a);
  if (b.sessions.size > 0) return hangsWithin(a, b);
  // Containers use pid 1 again and again: two sides that each hang on a root of their own are one process
  // only when they share a thread.
  if (a.unresolved.length > 0 && b.unresolved.length > 0) return shareThread;
  return true;
}

/** Two sides whose runs are named, and differ, are not one process. */
function mayBeOneRun(a: Cluster, b: Cluster): boolean {
  const [left, right] = [runsOf(a), runsOf(b)];
  return left.size === 0 || right.size === 0 || sharesAny(left, right);
}

function runsOf(cluster: Cluster): Set<string> {
  if (cluster.overrides.size > 0) return cluster.overrides;
  return new Set([...cluster.sessions.values()].flatMap(({ runId }) => (runId === null ? [] : [runId])));
}

interface Hanging extends Pick<Cluster, "firstNs" | "lastNs"> {
  readonly unresolved: readonly unknown[];
}

/** A side that hangs on a root that never arrived fits a session only inside that session's time. */
function hangsWithin(side: Hanging, withSession: Pick<Cluster, "sessions">): boolean {
  if (side.unresolved.length === 0) return true;
  return [...withSession.sessions.values()].some((span) => side.firstNs >= span.startNs && side.lastNs <= span.endNs);
}

function toSession(cluster: Cluster): Session {
  let span: SessionSpan | null = null;
  for (const session of cluster.sessions.values()) if (span === null || session.id < span.id) span = session;
  if (span !== null) return { members: cluster.members, rootId: span.id, rootKind: "session", span };
  const best = bestRoot(cluster.unresolved);
  if (best !== null) return { members: cluster.members, rootId: best.id, rootKind: "unresolved_parent", span: null };
  return { members: cluster.members, rootId: placeholderId(cluster.members), rootKind: "placeholder", span: null };
}

export function bestRoot(unresolved: readonly UnresolvedParent[]): UnresolvedParent | null {
  let best: UnresolvedParent | null = null;
  for (const parent of unresolved) if (best === null || isBetterRoot(parent, best)) best = parent;
  return best;
}

function isBetterRoot(a: UnresolvedParent, b: UnresolvedParent): boolean {
  if (a.hasEpochChild !== b.hasEpochChild) return a.hasEpochChild;
  if (a.leads !== b.leads) return a.leads > b.leads;
  return a.id < b.id;
}

function placeholderId(members: readonly Component[]): string {
  const [first] = [...members].sort(byEarliestRow) as [Component];
  return `c-${first.earliest.id}`;
}

function toCluster(component: Component): Cluster {
  return {
    members: [component],
    sessions: component.sessions,
    unresolved: [...component.unresolved.values()],
    threads: component.threads,
    overrides: component.runOverrides,
    firstNs: component.firstNs,
    lastNs: component.lastNs,
  };
}

function mergeClusters(a: Cluster, b: Cluster): Cluster {
  return {
    members: [...a.members, ...b.members],
    sessions: new Map([...a.sessions, ...b.sessions]),
    unresolved: [...a.unresolved, ...b.unresolved],
    threads: a.threads.union(b.threads),
    overrides: a.overrides.union(b.overrides),
    firstNs: a.firstNs < b.firstNs ? a.firstNs : b.firstNs,
    lastNs: a.lastNs > b.lastNs ? a.lastNs : b.lastNs,
  };
}

function sourcesOf(cluster: Cluster): Set<string> {
  return new Set(cluster.members.flatMap(({ sources }) => [...sources]));
}

/** 0 when the two overlap. */
export function distanceNs(
  a: { firstNs: SenderNs; lastNs: SenderNs },
  b: { firstNs: SenderNs; lastNs: SenderNs },
): bigint {
  if (a.firstNs > b.lastNs) return a.firstNs - b.lastNs;
  if (b.firstNs > a.lastNs) return b.firstNs - a.lastNs;
  return 0n;
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a === b || (a.size === b.size && a.isSubsetOf(b));
}

function sharesAny(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return !a.isDisjointFrom(b);
}
