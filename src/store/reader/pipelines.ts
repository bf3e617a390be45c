// Reads facts about pipelines and launches. 64-bit integers come as text: times become bigints, and the counters of a
// plan numbers.

import type {
  ClockFacts,
  CompletenessFacts,
  LaunchedRun,
  LaunchHead,
  LifecycleRow,
  NodeRow,
} from "#model/pipeline-facts.ts";
import type { ReadOptions, Store } from "#store/store.ts";
import { countOutcomes, readMembers, readRunCounts } from "./members.ts";
import * as sql from "./semantiva.ts";

/** As the store gives them: 64-bit integers as text, booleans as 0 or 1. */
type Told<T> = {
  readonly [K in keyof T]: T[K] extends boolean
    ? number
    : T[K] extends bigint
      ? string
      : number extends T[K]
        ? string | T[K]
        : T[K];
};

export async function readCompleteness(
  store: Store,
  scope: sql.PipelineScope,
  options: ReadOptions = {},
): Promise<CompletenessFacts[]> {
  const rows = await store.query<Told<CompletenessFacts>>(sql.completenessQuery(store.database, scope), options);
  return rows.map((row) => ({
    ...row,
    has_start: row.has_start === 1,
    has_end: row.has_end === 1,
    expected: Number(row.expected),
    observed: Number(row.observed),
    matched: Number(row.matched),
  }));
}

/** A page of launches. */
export async function readLaunches(
  store: Store,
  page: sql.LaunchPage,
  options: ReadOptions = {},
): Promise<LaunchHead[]> {
  const rows = await store.query<HeadRow>(sql.launchesQuery(store.database, page), options);
  if (rows.length === 0) return [];
  const keys = rows.map(({ launch_key }) => launch_key);
  const countsOf = await readRunCounts(store, keys, options);
  return rows.map((row) => toLaunchHead(row, countsOf.get(row.launch_key) ?? []));
}

/** A launch with its members in order; null when there is none. */
export async function readLaunch(
  store: Store,
  launchKey: string,
  options: ReadOptions = {},
): Promise<{ readonly head: LaunchHead; readonly members: readonly LaunchedRun[] } | null> {
  const [[row], members] = await Promise.all([
    store.query<HeadRow>(sql.launchesQuery(store.database, { launchKeys: [launchKey] }), options),
    readMembers(store, launchKey, options),
  ]);
  return row === undefined ? null : { head: toLaunchHead(row, countOutcomes(members)), members };
}

type HeadRow = Told<Omit<LaunchHead, "runs">>;

function toLaunchHead(row: HeadRow, runs: LaunchHead["runs"]): LaunchHead {
  return {
    launch_key: row.launch_key,
    launch_id: row.launch_id,
    attempt: Number(row.attempt),
    has_start: row.has_start === 1,
    has_end: row.has_end === 1,
    outcome: row.outcome,
    planned_runs: toNumber(row.planned_runs),
    total_runs: toNumber(row.total_runs),
    start_ns: BigInt(row.start_ns),
    end_ns: BigInt(row.end_ns),
    last_received_ns: BigInt(row.last_received_ns),
    indexes: Number(row.indexes),
    runs,
  };
}

/** Stored start lines by launch key. */
export async function readLaunchStarts(
  store: Store,
  launchKeys: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, string>> {
  const query = sql.launchStartsQuery(store.database, launchKeys);
  const rows = await store.query<{ launch_key: string; payload: string }>(query, options);
  return new Map(rows.map(({ launch_key, payload }) => [launch_key, payload]));
}

/** Attempts by launch id, ascending. */
export async function readAttempts(
  store: Store,
  workspace: string,
  launchIds: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, number[]>> {
  const query = sql.attemptsQuery(store.database, workspace, launchIds);
  const rows = await store.query<{ launch_id: string; attempts: string[] }>(query, options);
  return new Map(rows.map(({ launch_id, attempts }) => [launch_id, attempts.map(Number)]));
}

export async function readLifecycle(
  store: Store,
  groupKeys: readonly string[],
  options: ReadOptions = {},
): Promise<LifecycleRow[]> {
  const rows = await store.query<Told<LifecycleRow>>(sql.lifecycleQuery(store.database, groupKeys), options);
  return rows.map((row) => ({
    ...row,
    attempt: toNumber(row.attempt),
    run_index: toNumber(row.run_index),
    planned_runs: toNumber(row.planned_runs),
    total_runs: toNumber(row.total_runs),
    seq: toNumber(row.seq),
    ts_ns: BigInt(row.ts_ns),
    ...toArrival(row),
  }));
}

export async function readNodes(
  store: Store,
  groupKeys: readonly string[],
  options: ReadOptions = {},
): Promise<NodeRow[]> {
  const rows = await store.query<Told<NodeRow>>(sql.nodesQuery(store.database, groupKeys), options);
  return rows.map((row) => ({
    ...row,
    start_ns: BigInt(row.start_ns),
    end_ns: BigInt(row.end_ns),
    wall_ms: toNumber(row.wall_ms),
    cpu_ms: toNumber(row.cpu_ms),
    seq: toNumber(row.seq),
    ...toArrival(row),
  }));
}

/** Stored lines by event id. */
export async function readPayloads(
  store: Store,
  groupKeys: readonly string[],
  eventIds: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, string>> {
  if (eventIds.length === 0) return new Map();
  const query = sql.payloadsQuery(store.database, groupKeys, eventIds);
  const rows = await store.query<{ event_id: string; payload: string }>(query, options);
  return new Map(rows.map(({ event_id, payload }) => [event_id, payload]));
}

/** Clock facts by group key; whether a group was imported is told by its group, not here. */
export async function readClocks(
  store: Store,
  groupKeys: readonly string[],
  options: ReadOptions = {},
): Promise<Map<string, Omit<ClockFacts, "imported">>> {
  type ClockRow = Told<Omit<ClockFacts, "imported">> & { readonly group_key: string };
  const rows = await store.query<ClockRow>(sql.clocksQuery(store.database, groupKeys), options);
  return new Map(
    rows.map((row) => [
      row.group_key,
      {
        first_ts_ns: BigInt(row.first_ts_ns),
        last_ts_ns: BigInt(row.last_ts_ns),
        first_received_ns: BigInt(row.first_received_ns),
        last_received_ns: BigInt(row.last_received_ns),
        most_ahead_ns: BigInt(row.most_ahead_ns),
      },
    ]),
  );
}

function toArrival(row: { jpos: number | string; jrow: number | string; received_ns: string }) {
  return { jpos: Number(row.jpos), jrow: Number(row.jrow), received_ns: BigInt(row.received_ns) };
}

function toNumber(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}
