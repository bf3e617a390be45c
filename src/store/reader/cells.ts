// Params and metric summaries of many runs at once: narrow reads by name over a whole workspace or some groups.

import type { MetricCell, MetricCount, ParamCell, PointStat } from "#model/run-cells.ts";
import type { Store } from "#store/store.ts";
import { readNativeRows } from "./native-rows.ts";

interface ParamRow {
  readonly group_key: string;
  readonly name: string;
  readonly value: string;
  readonly value_num: number | null;
  readonly ts_ns: bigint;
}

/** The latest value of each param of each group; `name` null stands for all of them. */
export async function readParamCells(
  store: Store,
  workspace: string,
  name: string | null,
  groups: readonly string[] | null,
): Promise<ParamCell[]> {
  const place = "(p.ts_ns, p.seq, p.worker)";
  const rows = await readNativeRows<ParamRow>(store, {
    sql: `SELECT group_key, name, argMax(p.value, ${place}) AS value,
        argMax(tuple(p.value_num), ${place}).1 AS value_num, max(p.ts_ns) AS ts_ns
      FROM ${store.database}.${name === null ? "params" : "param_by_key"} AS p
      WHERE ${where(groups)} ${name === null ? "" : "AND name = {name:String}"} GROUP BY group_key, name`,
    params: { ...whereParams(workspace, groups), ...(name === null ? {} : { name }) },
  });
  return rows.map((row) => ({
    groupKey: row.group_key,
    name: row.name,
    value: row.value,
    num: row.value_num,
    tsNs: row.ts_ns,
  }));
}

/** A point is (value, value_text, step, epoch, ts_ns). */
const statSql: Readonly<Record<PointStat, string>> = {
  first: "(argMinMerge(first) AS point).1 AS value, point.2 AS text, point.3 AS step, point.5 AS ts_ns",
  last: "(argMaxMerge(last) AS point).1 AS value, point.2 AS text, point.3 AS step, point.5 AS ts_ns",
  min: "min(min_value) AS value",
  max: "max(max_value) AS value",
};

interface MetricRow {
  readonly group_key: string;
  readonly phase: string;
  readonly worker: string;
  readonly value: number | null;
  readonly text?: string;
  readonly step?: bigint | null;
  readonly ts_ns?: bigint;
  readonly has_nonfinite: number;
}

/** One point of every series of a key. */
export async function readMetricCells(
  store: Store,
  workspace: string,
  key: string,
  stat: PointStat,
  groups: readonly string[] | null,
): Promise<MetricCell[]> {
  const rows = await readNativeRows<MetricRow>(store, {
    sql: `SELECT group_key, phase, worker, ${statSql[stat]}, max(nonfinite) AS has_nonfinite
      FROM ${store.database}.metric_by_key WHERE ${where(groups)} AND key = {key:String}
      GROUP BY group_key, phase, worker`,
    params: { ...whereParams(workspace, groups), key },
  });
  return rows.map((row) => ({
    groupKey: row.group_key,
    phase: row.phase,
    worker: row.worker,
    value: row.value,
    text: row.text ?? "",
    step: row.step ?? null,
    tsNs: row.ts_ns ?? 0n,
    hasNonfinite: row.has_nonfinite === 1,
  }));
}

/** How many points every series has; `keys` null stands for all metrics. */
export async function readMetricCounts(
  store: Store,
  workspace: string,
  keys: readonly string[] | null,
  groups: readonly string[] | null,
): Promise<MetricCount[]> {
  const rows = await readNativeRows<Omit<MetricCount, "groupKey"> & { readonly group_key: string }>(store, {
    sql: `SELECT group_key, key, phase, toUInt32(count()) AS count,
        toUInt32(countIf(isNotNull(value) AND NOT isFinite(assumeNotNull(value)))) AS nonfinite
      FROM ${store.database}.metrics WHERE ${where(groups)} ${keys === null ? "" : "AND key IN {keys:Array(String)}"}
      GROUP BY group_key, key, phase`,
    params: { ...whereParams(workspace, groups), ...(keys === null ? {} : { keys: [...keys] }) },
  });
  return rows.map(({ group_key, ...row }) => ({ groupKey: group_key, ...row }));
}

function where(groups: readonly string[] | null): string {
  return groups === null ? "startsWith(toString(group_key), {prefix:String})" : "group_key IN {groups:Array(String)}";
}

function whereParams(workspace: string, groups: readonly string[] | null): Record<string, string | string[]> {
  return groups === null ? { prefix: `${workspace}/` } : { groups: [...groups] };
}
