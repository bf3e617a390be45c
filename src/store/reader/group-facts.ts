// What the store knows about groups of rows as wholes: whose they are, when they were heard of, what is wrong with them.
// The parts are joined here: a join of 100,000 keys takes the engine longer than reading them all.

import { groupKinds } from "#model/group-key.ts";
import type { GroupFacts } from "#model/run-facts.ts";
import type { Query, Store } from "#store/store.ts";
import { type GroupScope, inScope, ofKind, scopeParams } from "./group-scope.ts";
import { readNativeRows } from "./native-rows.ts";

interface GroupRow {
  readonly group_key: string;
  readonly protocol: string;
  readonly run_id: string;
  readonly session_id: string;
  readonly root_kind: string;
  readonly rank: number;
  readonly forked: number;
  readonly imported: number;
  readonly pipeline_id: string | null;
  readonly deployment_id: string | null;
  readonly model_id: string | null;
}

interface TimesRow {
  readonly group_key: string;
  readonly first_ns: bigint | null;
  readonly last_ns: bigint | null;
  readonly received_ns: bigint;
}

interface CountRow {
  readonly group_key: string;
  readonly count: number;
}

interface SequenceRow {
  readonly group_key: string;
  readonly duplicates: number;
  readonly missing: number;
}

/** By key. A launch is no run, its lines say what was planned: it is left out, and so is what was deleted. */
export async function readGroupFacts(store: Store, scope: GroupScope): Promise<GroupFacts[]> {
  const { database } = store;
  const read = <T>(sql: string): Promise<T[]> => readNativeRows<T>(store, { sql, params: scopeParams(scope) });
  const [groups, groupTimes, pointTimes, faults, sequences, nonfinite] = await Promise.all([
    read<GroupRow>(groupsSql(database, scope)),
    read<TimesRow>(timesSql(database, "group_times", scope)),
    read<TimesRow>(timesSql(database, "metric_summary", scope)),
    read<CountRow>(faultsSql(database, scope)),
    ofKind(scope, groupKinds.xtrackRun) === null ? [] : read<SequenceRow>(sequencesSql(database, scope)),
    read<CountRow>(nonfiniteSql(database, scope)),
  ]);
  const timesOf = byKey(groupTimes);
  const pointTimesOf = byKey(pointTimes);
  const faultsOf = byKey(faults);
  const sequencesOf = byKey(sequences);
  const nonfiniteOf = byKey(nonfinite);
  return groups.map((row) => {
    const key = row.group_key;
    const times = joinTimes(timesOf.get(key), pointTimesOf.get(key));
    const sequence = sequencesOf.get(key);
    return {
      groupKey: key,
      protocol: row.protocol,
      runId: row.run_id,
      sessionId: row.session_id,
      rootKind: row.root_kind,
      rank: row.rank,
      forked: row.forked === 1,
      imported: row.imported === 1,
      firstNs: toTime(times?.first_ns ?? null),
      lastNs: toTime(times?.last_ns ?? null),
      lastReceivedNs: times?.received_ns ?? 0n,
      faults: faultsOf.get(key)?.count ?? 0,
      duplicates: sequence?.duplicates ?? 0,
      missing: sequence?.missing ?? 0,
      nonfinite: nonfiniteOf.get(key)?.count ?? 0,
      pipelineId: row.pipeline_id,
      deploymentId: row.deployment_id,
      modelId: row.model_id,
    };
  });
}

function byKey<T extends { readonly group_key: string }>(rows: readonly T[]): Map<string, T> {
  const map = new Map<string, T>();
  for (const row of rows) map.set(row.group_key, row);
  return map;
}

function joinTimes(a: TimesRow | undefined, b: TimesRow | undefined): TimesRow | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    group_key: a.group_key,
    first_ns: a.first_ns === null || (b.first_ns !== null && b.first_ns < a.first_ns) ? b.first_ns : a.first_ns,
    last_ns: a.last_ns === null || (b.last_ns !== null && b.last_ns > a.last_ns) ? b.last_ns : a.last_ns,
    received_ns: b.received_ns > a.received_ns ? b.received_ns : a.received_ns,
  };
}

/** A time that a record did not have is 0, and is no time. */
function toTime(ns: bigint | null): bigint | null {
  return ns === 0n ? null : ns;
}

function groupsSql(database: string, scope: GroupScope): string {
  return `SELECT group_key, protocol, run_id, toLowCardinality(g.session_id) AS session_id, root_kind, rank, forked,
      imported, pipeline_id, deployment_id, model_id
    FROM ${database}.groups AS g FINAL
    WHERE ${inScope("group_key", scope)} AND deleted_ns = 0 AND protocol != 'launch' ORDER BY group_key`;
}

function timesSql(database: string, table: "group_times" | "metric_summary", scope: GroupScope): string {
  return `SELECT group_key, min(t.min_ns) AS first_ns, max(t.max_ns) AS last_ns, max(t.max_received_ns) AS received_ns
    FROM ${database}.${table} AS t WHERE ${inScope("group_key", scope)} GROUP BY group_key`;
}

function faultsSql(database: string, scope: GroupScope): string {
  return `SELECT group_key, toUInt32(uniqExact(fault_id)) AS count
    FROM ${database}.faults WHERE ${inScope("group_key", scope)} GROUP BY group_key`;
}

/** Points that are NaN or ±Infinity, counted only in groups whose summary says that there are any. */
function nonfiniteSql(database: string, scope: GroupScope): string {
  return `SELECT group_key, toUInt32(count()) AS count FROM ${database}.metrics
    WHERE isNotNull(value) AND NOT isFinite(assumeNotNull(value)) AND group_key IN (
      SELECT group_key FROM ${database}.metric_summary WHERE ${inScope("group_key", scope)} AND nonfinite = 1)
    GROUP BY group_key`;
}

/**
 * Sequence numbers that never came, by incarnation: the run_starts of a worker cut its events by their time. A number
 * is missing when no range below the greatest one covers it, as `query/xtrack/sequences.ts` counts them one by one.
 */
function sequencesSql(database: string, scope: GroupScope): string {
  return `SELECT group_key, toUInt32(sum(duplicates)) AS duplicates, toUInt32(sum(hole)) AS missing FROM (
      SELECT group_key, r.duplicates AS duplicates, greatest(0, first_seq - 1 - greatest(0, max(last_seq) OVER (
        PARTITION BY group_key, worker, incarnation ORDER BY first_seq, last_seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))) AS hole
      FROM (SELECT toString(s.group_key) AS group_key, toString(s.worker) AS worker, first_seq, last_seq, duplicates,
          greatest(1, arrayCount(start -> start <= s.first_ts_ns, i.starts)) AS incarnation
        FROM (SELECT * FROM ${database}.seq_ranges FINAL WHERE ${inScope("group_key", scope)}) AS s
        LEFT JOIN (SELECT group_key, worker, groupUniqArray(ts_ns) AS starts FROM ${database}.events
          WHERE ${inScope("group_key", scope)} AND protocol = 'xtrack' AND type = 'run_start'
          GROUP BY group_key, worker) AS i ON i.group_key = s.group_key AND i.worker = s.worker) AS r)
    GROUP BY group_key`;
}

/** XTrack events that never came, of all runs. */
export async function readMissing(store: Store): Promise<number> {
  const query: Query = {
    sql: `SELECT toUInt32(sum(missing)) AS missing FROM (${sequencesSql(store.database, { workspace: "" })})`,
    params: { prefix: "" },
  };
  const [row] = await store.query<{ missing: number }>(query);
  return row?.missing ?? 0;
}
