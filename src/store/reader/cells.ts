// Params and metric summaries of many runs at once: narrow reads by name over a whole workspace.

import type { MetricCell, MetricCount, ParamCell, SummaryPoint } from "#model/run-cells.ts";
import type { ReadOptions, Store } from "#store/store.ts";

interface ParamRow {
  readonly group_key: string;
  readonly name: string;
  readonly value: string;
  readonly value_num: number | string | null;
  readonly ts_ns: string;
}

/** The latest value of each named param of each group. */
export async function readParamCells(
  store: Store,
  workspace: string,
  names: readonly string[] | null,
  groups: readonly string[] | null,
  options: ReadOptions = {},
): Promise<ParamCell[]> {
  const rows = await store.query<ParamRow>(
    {
      sql: `SELECT group_key, name, argMax(p.value, (p.ts_ns, p.seq)) AS value,
          argMax(tuple(p.value_num), (p.ts_ns, p.seq)).1 AS value_num, max(p.ts_ns) AS ts_ns
        FROM ${store.database}.params AS p WHERE ${where(groups)} ${names === null ? "" : "AND name IN {names:Array(String)}"}
        GROUP BY group_key, name`,
      params: { ...whereParams(workspace, groups), ...(names === null ? {} : { names: [...names] }) },
    },
    options,
  );
  return rows.map((row) => ({
    groupKey: row.group_key,
    name: row.name,
    value: row.value,
    num: toNumber(row.value_num),
    tsNs: BigInt(row.ts_ns),
  }));
}

type PointTuple = readonly [number | string | null, string, string | null, string | null, string];

interface MetricRow {
  readonly group_key: string;
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly first: PointTuple;
  readonly last: PointTuple;
  readonly min_value: number | null;
  readonly max_value: number | null;
  readonly nonfinite: number;
}

export async function readMetricCells(
  store: Store,
  workspace: string,
  keys: readonly string[] | null,
  groups: readonly string[] | null,
  options: ReadOptions = {},
): Promise<MetricCell[]> {
  const rows = await store.query<MetricRow>(
    {
      sql: `SELECT group_key, key, phase, worker, argMinMerge(first) AS first, argMaxMerge(last) AS last,
          min(min_value) AS min_value, max(max_value) AS max_value, max(nonfinite) AS nonfinite
        FROM ${store.database}.${groups === null && keys !== null ? "metric_by_key" : "metric_summary"}
        WHERE ${where(groups)} ${keys === null ? "" : "AND key IN {keys:Array(String)}"}
        GROUP BY group_key, key, phase, worker ORDER BY group_key, key, phase, worker`,
      params: { ...whereParams(workspace, groups), ...(keys === null ? {} : { keys: [...keys] }) },
    },
    options,
  );
  return rows.map((row) => ({
    groupKey: row.group_key,
    key: row.key,
    phase: row.phase,
    worker: row.worker,
    first: toPoint(row.first),
    last: toPoint(row.last),
    min: row.min_value,
    max: row.max_value,
    hasNonfinite: row.nonfinite === 1,
  }));
}

export async function readMetricCounts(
  store: Store,
  workspace: string,
  keys: readonly string[] | null,
  groups: readonly string[] | null,
): Promise<MetricCount[]> {
  const rows = await store.query<{
    group_key: string;
    key: string;
    phase: string;
    count: number;
    nonfinite: number;
  }>({
    sql: `SELECT group_key, key, phase, toUInt32(count()) AS count,
        toUInt32(countIf(isNotNull(value) AND NOT isFinite(assumeNotNull(value)))) AS nonfinite
      FROM ${store.database}.metrics WHERE ${where(groups)} ${keys === null ? "" : "AND key IN {keys:Array(String)}"}
      GROUP BY group_key, key, phase`,
    params: { ...whereParams(workspace, groups), ...(keys === null ? {} : { keys: [...keys] }) },
  });
  return rows.map((row) => ({
    groupKey: row.group_key,
    key: row.key,
    phase: row.phase,
    count: row.count,
    nonfinite: row.nonfinite,
  }));
}

function where(groups: readonly string[] | null): string {
  return groups === null ? "startsWith(toString(group_key), {prefix:String})" : "group_key IN {groups:Array(String)}";
}

function whereParams(workspace: string, groups: readonly string[] | null): Record<string, string | string[]> {
  return groups === null ? { prefix: `${workspace}/` } : { groups: [...groups] };
}

function toPoint([value, text, step, , ts]: PointTuple): SummaryPoint {
  return { value: toNumber(value), text, step: step === null ? null : BigInt(step), tsNs: BigInt(ts) };
}

/** Floats come as numbers, or as the words of the API when they are not finite. */
function toNumber(value: number | string | null): number | null {
  return typeof value === "string" ? Number(value) : value;
}
