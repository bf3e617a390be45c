// What the store knows about whole groups of rows: whose they are, when they were heard of, what is wrong with them.
// The answers are joined here, because joining 100,000 keys takes the engine longer than reading them all.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { groupKinds } from "#model/group-key.ts";
import { joinedGroups } from "#store/joined-groups.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { type GroupScope, inScope, ofKind, scopeParams } from "./group-scope.ts";
import {
  flag,
  float,
  int,
  nullable,
  type RowOf,
  type RowShape,
  readMap,
  readRows,
  readValue,
  senderNs,
  serverNs,
  text,
} from "./native-rows.ts";

const groupRow = {
  groupKey: text,
  protocol: text,
  runId: text,
  sessionId: text,
  rootKind: text,
  rank: int,
  forked: flag,
  imported: flag,
  pipelineId: nullable(text),
  deploymentId: nullable(text),
  modelId: nullable(text),
};

/** A group of rows and what the store knows about it as a whole. */
export interface GroupFacts extends RowOf<typeof groupRow> {
  /** By the clients' clocks; null when nothing with a time is stored. */
  readonly firstNs: SenderNs | null;
  readonly lastNs: SenderNs | null;
  readonly lastReceivedNs: ServerNs;
  readonly faults: number;
  /** XTrack events that arrived again, and those that never came. */
  readonly duplicates: number;
  readonly missing: number;
  /** Points that are NaN or ±Infinity. */
  readonly nonfinite: number;
}

const timesRow = { groupKey: text, firstNs: nullable(senderNs), lastNs: nullable(senderNs), receivedNs: serverNs };
type Times = RowOf<typeof timesRow>;
/** A gap may be as wide as 64 bits. */
const sequenceRow = { groupKey: text, duplicates: int, missing: float };

/**
 * Ordered by key. Launches are left out, because their lines say what was planned and are no run; so are deleted
 * groups.
 */
export async function readGroupFacts(store: Store, scope: GroupScope): Promise<GroupFacts[]> {
  const { database } = store;
  const params = scopeParams(scope);
  const read = <S extends RowShape>(shape: S, sql: string) => readRows(store, shape, { sql, params });
  const [groups, groupTimes, pointTimes, faultsOf, sequences, nonfiniteOf] = await Promise.all([
    read(groupRow, groupsSql(database, scope)),
    read(timesRow, timesSql(database, "group_times", scope)),
    read(timesRow, timesSql(database, "metric_summary", scope)),
    readMap(store, text, int, { sql: faultsSql(database, scope), params }),
    ofKind(scope, groupKinds.xtrackRun) === null ? [] : read(sequenceRow, sequencesSql(database, scope)),
    readMap(store, text, int, { sql: nonfiniteSql(database, scope), params }),
  ]);
  const timesOf = byKey(groupTimes);
  const pointTimesOf = byKey(pointTimes);
  const sequencesOf = byKey(sequences);
  return groups.map((group) => {
    const { groupKey } = group;
    const times = joinTimes(timesOf.get(groupKey), pointTimesOf.get(groupKey));
    const sequence = sequencesOf.get(groupKey);
    return {
      ...group,
      firstNs: toTime(times?.firstNs ?? null),
      lastNs: toTime(times?.lastNs ?? null),
      lastReceivedNs: times?.receivedNs ?? 0n,
      faults: faultsOf.get(groupKey) ?? 0,
      duplicates: sequence?.duplicates ?? 0,
      missing: sequence?.missing ?? 0,
      nonfinite: nonfiniteOf.get(groupKey) ?? 0,
    };
  });
}

function byKey<T extends { readonly groupKey: string }>(rows: readonly T[]): Map<string, T> {
  const map = new Map<string, T>();
  for (const row of rows) map.set(row.groupKey, row);
  return map;
}

function joinTimes(a: Times | undefined, b: Times | undefined): Times | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    groupKey: a.groupKey,
    firstNs: a.firstNs === null || (b.firstNs !== null && b.firstNs < a.firstNs) ? b.firstNs : a.firstNs,
    lastNs: a.lastNs === null || (b.lastNs !== null && b.lastNs > a.lastNs) ? b.lastNs : a.lastNs,
    receivedNs: b.receivedNs > a.receivedNs ? b.receivedNs : a.receivedNs,
  };
}

/** A time that a record did not have is 0, and is not a time. */
function toTime(ns: bigint | null): bigint | null {
  return ns === 0n ? null : ns;
}

function groupsSql(database: string, scope: GroupScope): string {
  return `SELECT group_key AS groupKey, protocol, run_id AS runId, toLowCardinality(g.session_id) AS sessionId,
      root_kind AS rootKind, rank, forked, imported, pipeline_id AS pipelineId, deployment_id AS deploymentId,
      model_id AS modelId
    FROM ${joinedGroups(database)} AS g
    WHERE ${inScope("group_key", scope)} AND deleted_ns = 0 AND protocol != 'launch' ORDER BY group_key`;
}

function timesSql(database: string, table: "group_times" | "metric_summary", scope: GroupScope): string {
  return `SELECT group_key AS groupKey, min(t.min_ns) AS firstNs, max(t.max_ns) AS lastNs,
      max(t.max_received_ns) AS receivedNs
    FROM ${database}.${table} AS t WHERE ${inScope("group_key", scope)} GROUP BY group_key`;
}

function faultsSql(database: string, scope: GroupScope): string {
  return `SELECT group_key AS groupKey, toUInt32(uniqExact(fault_id)) AS count
    FROM ${database}.faults WHERE ${inScope("group_key", scope)} GROUP BY group_key`;
}

/** Points that are NaN or ±Infinity, counted only in groups whose summary says that there are any. */
function nonfiniteSql(database: string, scope: GroupScope): string {
  return `SELECT group_key AS groupKey, toUInt32(count()) AS count FROM ${database}.metrics
    WHERE isNotNull(value) AND NOT isFinite(assumeNotNull(value)) AND group_key IN (
      SELECT group_key FROM ${database}.metric_summary WHERE ${inScope("group_key", scope)} AND nonfinite = 1)
    GROUP BY group_key`;
}

/**
 * Sequence numbers that never came, by incarnation: the run_starts of a worker cut its events by their time. A number
 * is missing when no range below the greatest one covers it, as `query/xtrack/sequences.ts` counts them one by one.
 */
function sequencesSql(database: string, scope: GroupScope): string {
  return `SELECT group_key AS groupKey, toUInt32(sum(duplicates)) AS duplicates, toFloat64(sum(toInt128(hole))) AS missing FROM (
      SELECT group_key, r.duplicates AS duplicates, greatest(0, first_seq - 1 - greatest(0, max(last_seq) OVER (
        PARTITION BY group_key, worker, incarnation ORDER BY first_seq, last_seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))) AS hole
      FROM (SELECT toString(s.group_key) AS group_key, toString(s.worker) AS worker, first_seq, last_seq, duplicates,
          greatest(1, arrayCount(start -> start <= s.first_ts_ns, i.starts)) AS incarnation
        FROM (SELECT * FROM ${database}.seq_ranges FINAL WHERE ${inScope("group_key", scope)}) AS s
        LEFT JOIN (SELECT group_key, worker, groupUniqArray(ts_ns) AS starts FROM ${database}.events
          WHERE ${inScope("group_key", scope)} AND ${withTrait("protocol", "workers")} AND type = 'run_start'
          GROUP BY group_key, worker) AS i ON i.group_key = s.group_key AND i.worker = s.worker) AS r)
    GROUP BY group_key`;
}

/** XTrack events that never came, of all runs. */
export async function readMissing(store: Store): Promise<number> {
  const sql = `SELECT sum(missing) FROM (${sequencesSql(store.database, { workspace: "" })})`;
  return (await readValue(store, float, { sql, params: { prefix: "" } })) ?? 0;
}
