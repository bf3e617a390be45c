// Layer two of Cirron grouping: which components were one process.
// A batch carries no identity of its process, so components are joined by (source, pid, rank) when they
// are near in time. These joins are guesses: a session span that comes late can prove two groups apart.
// They are therefore never stored and are worked out anew, as a pure function of the components, each
// time one of them changes.

import { type Component, isOnlyRootMarks, type SessionSpan, type UnresolvedParent } from "./component.ts";

/** A component together with what its forest nodes say today. */
export interface Candidate {
  readonly component: Component;
  /** Smallest group key: a name that does not depend on the order of arrival. */
  readonly key: string;
  readonly unresolved: readonly UnresolvedParent[];
}

export interface Session {
  readonly candidates: readonly Candidate[];
  /** The trace id: the root scope of the process. */
  readonly rootId: string;
  readonly rootKind: "session" | "unresolved_parent" | "placeholder" | "none";
  readonly span: SessionSpan | null;
}

interface Cluster {
  members: Candidate[];
  sessions: Map<string, SessionSpan>;
  unresolved: UnresolvedParent[];
  threads: Set<string>;
  /** The runs that paths or wrappers named. */
  overrides: Set<string>;
  firstNs: bigint;
  lastNs: bigint;
}

/** How much longer a gap may be when both sides share a thread id. */
const sharedThreadFactor = 6n;

export function toSessions(candidates: readonly Candidate[], gapNs: bigint): Session[] {
  const strays = candidates.filter((candidate) => isOnlyRootMarks(candidate.component));
  const clusters = joinNear(
    candidates.filter((candidate) => !isOnlyRootMarks(candidate.component)),
    gapNs,
  );
  const sessions = clusters.map(toSession);
  for (const stray of strays) adopt(stray, clusters, sessions, gapNs);
  return sessions;
}

/** A batch of only "root" marks belongs to the one session near it, if there is just one. */
function adopt(stray: Candidate, clusters: readonly Cluster[], sessions: Session[], gapNs: bigint): void {
  const near = clusters.flatMap((cluster, at) =>
    sharesAny(stray.component.sources, sourcesOf(cluster)) &&
    distanceNs(toCluster(stray), cluster) <= gapNs &&
    mayBeOneRun(toCluster(stray), cluster)
      ? [at]
      : [],
  );
  const only = near.length === 1 ? (near[0] as number) : -1;
  const session = sessions[only];
  if (session === undefined) {
    sessions.push({ candidates: [stray], rootId: placeholderId([stray]), rootKind: "none", span: null });
    return;
  }
  sessions[only] = { ...session, candidates: [...session.candidates, stray] };
}

/** Joins the nearest pairs first, so that the outcome does not depend on the order of the input. */
function joinNear(candidates: readonly Candidate[], gapNs: bigint): Cluster[] {
  const clusterOf = new Map<Candidate, Cluster>(candidates.map((candidate) => [candidate, toCluster(candidate)]));
  for (const { a, b } of nearPairs(candidates, gapNs)) {
    const left = clusterOf.get(a) as Cluster;
    const right = clusterOf.get(b) as Cluster;
    if (left === right || !mayJoin(left, right, gapNs)) continue;
    const joined = mergeClusters(left, right);
    for (const member of joined.members) clusterOf.set(member, joined);
  }
  return [...new Set(clusterOf.values())];
}

function nearPairs(candidates: readonly Candidate[], gapNs: bigint): { a: Candidate; b: Candidate }[] {
  const sorted = [...candidates].sort((a, b) => (a.key < b.key ? -1 : 1));
  const pairs: { a: Candidate; b: Candidate; distance: bigint }[] = [];
  for (const [at, a] of sorted.entries()) {
    for (const b of sorted.slice(at + 1)) {
      if (!sharesAny(a.component.sources, b.component.sources)) continue;
      if (!sharesAny(a.component.processes, b.component.processes)) continue;
      const distance = distanceNs(toCluster(a), toCluster(b));
      if (distance <= gapNs * sharedThreadFactor) pairs.push({ a, b, distance });
    }
  }
  return pairs.sort((x, y) => (x.distance < y.distance ? -1 : x.distance > y.distance ? 1 : 0));
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

/** Two sides that were each told which run they are, and not the same one, are not one process. */
function mayBeOneRun(a: Cluster, b: Cluster): boolean {
  const [left, right] = [runsOf(a), runsOf(b)];
  return left.size === 0 || right.size === 0 || sharesAny(left, right);
}

function runsOf(cluster: Cluster): Set<string> {
  if (cluster.overrides.size > 0) return cluster.overrides;
  return new Set([...cluster.sessions.values()].flatMap(({ runId }) => (runId === null ? [] : [runId])));
}

/** A side that hangs on a root that never arrived fits a session only inside that session's time. */
function hangsWithin(side: Cluster, withSession: Cluster): boolean {
  if (side.unresolved.length === 0) return true;
  return [...withSession.sessions.values()].some((span) => side.firstNs >= span.startNs && side.lastNs <= span.endNs);
}

function toSession(cluster: Cluster): Session {
  const span = [...cluster.sessions.values()].sort((a, b) => (a.id < b.id ? -1 : 1))[0] ?? null;
  if (span !== null) return { candidates: cluster.members, rootId: span.id, rootKind: "session", span };
  const best = bestRoot(cluster.unresolved);
  if (best !== null) return { candidates: cluster.members, rootId: best.id, rootKind: "unresolved_parent", span: null };
  return { candidates: cluster.members, rootId: placeholderId(cluster.members), rootKind: "placeholder", span: null };
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

function placeholderId(members: readonly Candidate[]): string {
  let earliest = (members[0] as Candidate).component.earliest;
  for (const { component } of members) {
    const { ns, id } = component.earliest;
    if (ns < earliest.ns || (ns === earliest.ns && id < earliest.id)) earliest = component.earliest;
  }
  return `c-${earliest.id}`;
}

function toCluster(candidate: Candidate): Cluster {
  const { component } = candidate;
  return {
    members: [candidate],
    sessions: component.sessions,
    unresolved: [...candidate.unresolved],
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
  return new Set(cluster.members.flatMap((member) => [...member.component.sources]));
}

/** 0 when the two overlap. */
export function distanceNs(a: { firstNs: bigint; lastNs: bigint }, b: { firstNs: bigint; lastNs: bigint }): bigint {
  if (a.firstNs > b.lastNs) return a.firstNs - b.lastNs;
  if (b.firstNs > a.lastNs) return b.firstNs - a.lastNs;
  return 0n;
}

function sharesAny(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return !a.isDisjointFrom(b);
}
