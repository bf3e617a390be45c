// The live stream for components, and which cached answers an event makes stale.

import { type Query, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";
import type { LiveEvent, LiveEventName } from "#api/contract/live.ts";
import type { RouteName } from "#api/contract/paths.ts";
import { isAfter, parsePositions } from "#model/positions.ts";
import type { LiveSnapshot, LiveStream } from "./live.ts";
import { createRefresher, type Refresher } from "./refresh.ts";

export const LiveContext = createContext<LiveStream | null>(null);

export function useLiveStream(): LiveStream {
  const stream = useContext(LiveContext);
  if (stream === null) throw new Error("no LiveContext above");
  return stream;
}

export function useLiveState(): LiveSnapshot {
  const stream = useLiveStream();
  return useSyncExternalStore(stream.subscribe, stream.snapshot);
}

export function useFollowRun(run: string): void {
  const stream = useLiveStream();
  useEffect(() => {
    stream.follow(run);
    return () => stream.follow(null);
  }, [stream, run]);
}

/** Hears the stream, anew for another `about`: then also the recent rows of the followed run. */
export function useLiveEvents(hear: (event: LiveEvent, refresher: Refresher) => void, about?: unknown): void {
  const stream = useLiveStream();
  const client = useQueryClient();
  const latest = useRef(hear);
  latest.current = hear;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another `about` wants the recent rows.
  useEffect(() => {
    const refresher = createRefresher(client);
    const stop = stream.listen((event) => latest.current(event, refresher));
    return () => {
      stop();
      refresher.close();
    };
  }, [stream, client, about]);
}

/**
 * Asks once more when an answer is older than the first row the stream can bring, or than one that was `dropped` since:
 * nothing may fall between the two.
 */
export function useCatchUp(asOf: string | undefined, ask: () => unknown, dropped = ""): void {
  const { startId } = useLiveState();
  const latest = useRef(ask);
  latest.current = ask;
  const isOld = asOf !== undefined && (isBehind(asOf, startId) || (dropped !== "" && isAfter(dropped, asOf)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a further answer may be too old as well.
  useEffect(() => {
    if (!isOld) return;
    const timer = setTimeout(() => latest.current(), settleMs);
    return () => clearTimeout(timer);
  }, [asOf, isOld]);
}

/** Whether some collector was further when the stream began than when the answer was made. */
function isBehind(asOf: string, startId: string): boolean {
  const known = parsePositions(asOf);
  return [...parsePositions(startId)].some(([collector, position]) => position > (known.get(collector) ?? -1));
}

const runNews: ReadonlySet<LiveEventName> = new Set(["run", "changed", "gone", "skipped"]);

/** Asks these routes again when runs come, change or go: all of them, or only `ids`. */
export function useFreshWithRuns(routes: readonly RouteName[], gatherMs: number, ids?: readonly string[]): void {
  useLiveEvents((event, refresher) => {
    const run = runOf(event);
    if (!runNews.has(event.name) || (run !== null && ids?.includes(run) === false)) return;
    for (const route of routes) refresher.ask(route, { queryKey: [route] }, gatherMs);
  });
}

function runOf(event: LiveEvent): string | null {
  return event.name === "run" ? event.data.id : "run" in event.data ? event.data.run : null;
}

/** Which routes show rows of a kind. Series and logs are not here: charts and the log append by themselves. */
const routesOfKind: Record<string, readonly RouteName[]> = {
  metrics: ["metrics"],
  spans: ["spans", "spanSummary"],
  marks: ["spans", "metrics"],
  nodes: ["graph", "completeness", "spans"],
  snapshots: ["snapshots", "tensor"],
  params: ["params"],
  events: ["events", "artifacts", "checkpoints", "gaps"],
  faults: ["runFaults", "faults"],
  commands: ["commands"],
  alerts: ["runAlerts"],
};
const settleMs = 1_000;

/** Asks again for cached answers when rows of their run arrive, at most once a second per route and run. */
export function useStaleOnLive(): void {
  const stream = useLiveStream();
  const client = useQueryClient();
  useEffect(() => {
    const refresher = createRefresher(client);
    const stop = stream.listen((event) => markStale(event, refresher));
    let { state } = stream.snapshot();
    const unwatch = stream.subscribe(() => {
      const before = state;
      state = stream.snapshot().state;
      // What could not be answered while the server was away is asked for again when it is back.
      if (state === "open" && before === "waiting") refresher.ask("failed", { predicate: hasFailed }, 0);
    });
    return () => {
      stop();
      unwatch();
      refresher.close();
    };
  }, [stream, client]);
}

function hasFailed(query: Query): boolean {
  return query.state.error !== null || query.state.fetchFailureCount > 0;
}

function markStale(event: LiveEvent, refresher: Refresher): void {
  if (event.name === "skipped") {
    refresher.ask("all", {}, settleMs);
    return;
  }
  if (event.name === "alert") refresher.ask("alerts", { queryKey: ["alerts"] }, settleMs);
  const run = runOf(event);
  if (run === null || event.name === "metrics" || event.name === "logs") return;
  const kinds = event.name === "changed" ? Object.keys(event.data.rows) : [`${event.name}s`];
  const routes = new Set<RouteName>(["run", ...kinds.flatMap((kind) => routesOfKind[kind] ?? [])]);
  for (const route of routes) {
    const predicate = (query: Query) => (query.queryKey[1] as { params?: { id?: string } }).params?.id === run;
    refresher.ask(`${route} ${run}`, { queryKey: [route], predicate }, settleMs);
  }
}
