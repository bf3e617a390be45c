// What several runs are compared by. Each question is asked once for all of them, and every row names its run.

import { stepOr } from "#store/point-order.ts";
import type { Store } from "#store/store.ts";
import { smallMembers } from "./cut-text.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, flag, float, floatWord, int, nullable, type RowOf, readRows, text, word } from "./native-rows.ts";
import type { RunGroup } from "./run-names.ts";
import { sumNs } from "./span-summary.ts";

const runOf = "transform(toString(group_key), {groups:Array(String)}, {group_runs:Array(String)}, '')";

type Groups = readonly Pick<RunGroup, "groupKey" | "run">[];

function groupParams(groups: Groups) {
  return { groups: groups.map(({ groupKey }) => groupKey), group_runs: groups.map(({ run }) => run) };
}

const comparedMetric = {
  run: text,
  key: text,
  phase: text,
  last: nullable(floatWord),
  min: nullable(float),
  max: nullable(float),
  /** Whether any point is NaN or ±Infinity. */
  has_nonfinite: flag,
};
export type ComparedMetric = RowOf<typeof comparedMetric>;

/** The last, least and greatest value of each metric, out of the summaries, which are few rows. */
export function readComparedMetrics(store: Store, groups: Groups): Promise<ComparedMetric[]> {
  return readRows(store, comparedMetric, {
    sql: `SELECT ${runOf} AS run, toString(key) AS key, toString(phase) AS phase,
        argMax(tuple(point.1), (${stepOr("point.3")}, point.5, group_key, worker)).1 AS last,
        min(least) AS min, max(most) AS max, max(flagged) AS has_nonfinite
      FROM (SELECT group_key, key, phase, worker, argMaxMerge(last) AS point, min(min_value) AS least,
          max(max_value) AS most, max(nonfinite) AS flagged
        FROM ${store.database}.metric_summary WHERE ${inGroups} GROUP BY group_key, key, phase, worker)
      GROUP BY run, key, phase ORDER BY key, phase`,
    params: groupParams(groups),
  });
}

const comparedSpan = {
  run: text,
  name: text,
  count: int,
  wall_ns: decimal,
  gpu_ns: nullable(decimal),
  p50_ns: decimal,
};
export type ComparedSpan = RowOf<typeof comparedSpan>;

/** Time by span name, of Cirron spans and Semantiva nodes together. */
export function readComparedSpans(store: Store, groups: Groups): Promise<ComparedSpan[]> {
  const { database } = store;
  return readRows(store, comparedSpan, {
    sql: `SELECT run, name, toUInt32(count()) AS count, ${sumNs("wall")} AS wall_ns,
        ${sumNs("gpu")} AS gpu_ns, toInt64(quantileExactLow(0.5)(wall)) AS p50_ns
      FROM (
        SELECT ${runOf} AS run, toString(name) AS name, end_ns - start_ns AS wall, gpu_ns AS gpu
        FROM ${database}.spans WHERE ${inGroups}
        UNION ALL
        SELECT ${runOf} AS run, if(processor = '', node_id, toString(processor)) AS name,
          toInt64(ifNull(wall_ms * 1000000, end_ns - start_ns)) AS wall, CAST(NULL, 'Nullable(Int64)') AS gpu
        FROM ${database}.nodes WHERE ${inGroups})
      GROUP BY run, name ORDER BY wall_ns DESC, name`,
    params: groupParams(groups),
  });
}

const comparedTensor = { run: text, tensor: text };
export type ComparedTensor = RowOf<typeof comparedTensor>;

export function readComparedTensors(store: Store, groups: Groups): Promise<ComparedTensor[]> {
  return readRows(store, comparedTensor, {
    sql: `SELECT ${runOf} AS run, toString(tensor_name) AS tensor FROM ${store.database}.snapshots WHERE ${inGroups}
      GROUP BY run, tensor ORDER BY tensor, run`,
    params: groupParams(groups),
  });
}

const startText = { run: text, type: word<"run_start" | "cirron.session">(), payload: text };
export type StartText = RowOf<typeof startText>;

/** What each run was first started with: the texts that have its environment and source. */
export function readStartTexts(store: Store, groups: Groups): Promise<StartText[]> {
  const { database } = store;
  return readRows(store, startText, {
    sql: `SELECT run, type, argMin(payload, (ts_ns, sender)) AS payload FROM (
        SELECT ${runOf} AS run, 'run_start' AS type, ${smallMembers("e.payload", ["env", "source"])} AS payload, ts_ns,
          toString(worker) AS sender
        FROM ${database}.events AS e WHERE ${inGroups} AND type = 'run_start'
        UNION ALL
        SELECT ${runOf} AS run, 'cirron.session' AS type, ${smallMembers("attrs")} AS payload, start_ns AS ts_ns,
          span_id AS sender
        FROM ${database}.spans WHERE ${inGroups} AND name = 'cirron.session')
      GROUP BY run, type`,
    params: groupParams(groups),
  });
}
