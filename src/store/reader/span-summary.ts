// Time by span name, of Cirron spans and Semantiva nodes together.

import type { Store } from "#store/store.ts";
import { allOf, inGroups } from "./group-scope.ts";
import { decimal, int, nullable, type RowOf, readRows, text } from "./native-rows.ts";
import { type TimeWindow, windowParams } from "./time-window.ts";

const summaryRow = {
  name: text,
  rank: nullable(int),
  count: int,
  wall_ns: decimal,
  self_ns: nullable(decimal),
  cpu_ns: nullable(decimal),
  gpu_ns: nullable(decimal),
  /** A sum over no value is no time at all, not zero: `gpu_ns` means something where this is not 0. */
  gpu_count: int,
  max_ns: decimal,
  p50_ns: decimal,
  p95_ns: decimal,
  p99_ns: decimal,
  first_ns: decimal,
  last_ns: decimal,
};
export type SpanSummary = RowOf<typeof summaryRow>;

export function readSpanSummary(store: Store, window: TimeWindow, byRank: boolean): Promise<SpanSummary[]> {
  const { database } = store;
  const inWindow = allOf(
    inGroups,
    window.fromNs === null ? "" : "end_ns >= {from_ns:Int64}",
    window.toNs === null ? "" : "start_ns < {to_ns:Int64}",
  );
  // Sums count the part inside the window only; quantiles are of whole lengths.
  const from = window.fromNs === null ? "start_ns" : "greatest(start_ns, {from_ns:Int64})";
  const to = window.toNs === null ? "end_ns" : "least(end_ns, {to_ns:Int64})";
  const whole = window.fromNs === null && window.toNs === null;
  const nodeWall = "toInt64(ifNull(wall_ms * 1000000, end_ns - start_ns))";
  const nodeInside = whole ? nodeWall : `least(${nodeWall}, greatest(0, ${to} - ${from}))`;
  const rank = byRank ? "rank" : "CAST(NULL, 'Nullable(Int32)')";
  return readRows(store, summaryRow, {
    sql: `SELECT name, ${rank} AS rank, toUInt32(count()) AS count, ${sumNs("inside")} AS wall_ns,
        -- Where a child of any span of this name outlives it, or its children overlap, there is no time of its own.
        if(max(loose) = 1, NULL, ${sumNs("self")}) AS self_ns,
        ${sumNs("cpu")} AS cpu_ns, ${sumNs("gpu")} AS gpu_ns, toUInt32(count(gpu)) AS gpu_count,
        max(wall) AS max_ns,
        toInt64(quantileExactLow(0.5)(wall)) AS p50_ns, toInt64(quantileExactLow(0.95)(wall)) AS p95_ns,
        toInt64(quantileExactLow(0.99)(wall)) AS p99_ns,
        min(start_ns) AS first_ns, max(end_ns) AS last_ns
      FROM (
        SELECT name, CAST(rank, 'Nullable(Int32)') AS rank, end_ns - start_ns AS wall,
          cpu_ns AS cpu, gpu_ns AS gpu, start_ns, end_ns, greatest(0, ${to} - ${from}) AS inside,
          inside - c.inside AS self,
          toUInt8(c.parent != 0 AND (c.first < start_ns OR c.last > end_ns OR c.inside > inside)) AS loose
        FROM (SELECT name, rank, start_ns, end_ns, cpu_ns, gpu_ns, sipHash64(span_id) AS id
          FROM ${database}.spans WHERE ${inWindow}) AS s
        LEFT JOIN (
          -- By hash: texts took a third longer to group and to join.
          SELECT sipHash64(assumeNotNull(parent_id)) AS parent, min(start_ns) AS first, max(end_ns) AS last,
            ${sumNs(`greatest(0, ${to} - ${from})`)} AS inside
          FROM ${database}.spans WHERE ${inWindow} AND isNotNull(parent_id) GROUP BY parent) AS c
          ON c.parent = s.id
        UNION ALL
        SELECT toLowCardinality(if(processor = '', node_id, toString(processor))), CAST(NULL, 'Nullable(Int32)'),
          ${nodeWall}, CAST(cpu_ms * 1000000, 'Nullable(Int64)'),
          CAST(NULL, 'Nullable(Int64)'), start_ns, end_ns,
          ${nodeInside}, ${nodeInside}, toUInt8(0)
        FROM ${database}.nodes WHERE ${inWindow})
      GROUP BY name, rank ORDER BY wall_ns DESC, name, rank`,
    params: windowParams(window),
  });
}

/** What does not fit is the greatest, or least, that does. Null when there is no value. */
export function sumNs(value: string): string {
  const sum = `sum(toInt128(${value}))`;
  const [least, most] = ["toInt64(-9223372036854775808)", "toInt64(9223372036854775807)"];
  return `multiIf(${sum} > ${most}, ${most}, ${sum} < ${least}, ${least}, toInt64(${sum}))`;
}
