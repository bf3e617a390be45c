// Reads facts about pipelines and launches. 64-bit integers come as text: times become bigints, and the counters of a
// plan numbers.

import type {
  ClockFacts,
  CompletenessFacts,
  LaunchHead,
  LaunchMember,
  LifecycleRow,
  NodeRow,
  PipelineIds,
} from "#model/pipeline-facts.ts";
import type { ReadOptions, Store } from "#store/store.ts";
import { RowBinaryReader } from "./row-binary.ts";
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

/** In order: by index, then by start. */
export async function readMembers(store: Store, launchKey: string, options: ReadOptions = {}): Promise<LaunchMember[]> {
  const chunks: Uint8Array[] = [];
  const query = sql.membersQuery(store.database, launchKey);
  for await (const chunk of store.stream(query, { ...options, format: "RowBinary" })) chunks.push(chunk);
  const reader = new RowBinaryReader(chunks);
  const members: LaunchMember[] = [];
  while (!reader.done) {
    members.push({
      run_id: reader.readText(),
      run_index: reader.readNullableInt64(),
      context: reader.readText(),
      duration_ms: reader.readNullableInt64(),
      has_end: reader.readUInt8() === 1,
      outcome: reader.readText(),
      failed_nodes: reader.readUInt32(),
    });
  }
  return members;
}

/** The pipelines that runs ran, the most used first. */
export function readPipelineIds(
  store: Store,
  scope: sql.PipelineScope,
  options: ReadOptions = {},
): Promise<PipelineIds[]> {
  return store.query<PipelineIds>(sql.pipelineIdsQuery(store.database, scope), options);
}

/** A page of launches, or these. */
export async function readLaunches(
  store: Store,
  page: Parameters<typeof sql.launchesQuery>[1],
  options: ReadOptions = {},
): Promise<LaunchHead[]> {
  const heads = await store.query<Told<Omit<LaunchHead, "runs">>>(sql.launchesQuery(store.database, page), options);
  if (heads.length === 0) return [];
  const keys = heads.map(({ launch_key }) => launch_key);
  type CountRow = Told<LaunchHead["runs"][number]> & { readonly launch_key: string };
  const counts = await store.query<CountRow>(sql.memberCountsQuery(store.database, keys), options);
  const countsOf = Map.groupBy(counts, ({ launch_key }) => launch_key);
  return heads.map((row) => ({
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
    runs: (countsOf.get(row.launch_key) ?? []).map(({ has_end, outcome, failed_nodes, count }) => ({
      has_end: has_end === 1,
      outcome,
      failed_nodes: Number(failed_nodes),
      count: Number(count),
    })),
  }));
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
