// The metrics of a run: one row per key and phase, with exact counts.

import type { Query } from "#store/store.ts";

export function metricsQuery(
  database: string,
  groups: readonly { readonly groupKey: string; readonly rank: number }[],
): Query {
  const place = "(ifNull(step, toInt64(-9223372036854775808)), ts_ns, seq, entry)";
  return {
    sql: `SELECT toString(key) AS key, toString(phase) AS phase,
        multiIf(any(m.source) = 'cirron', 'mark', any(m.source) = 'system', 'system', 'xtrack') AS source,
        arraySort(groupUniqArray(if(m.source = 'cirron',
          transform(toString(group_key), {groups:Array(String)}, {ranks:Array(String)}, ''), toString(worker)))) AS workers,
        toUInt32(count()) AS count, toUInt32(countIf(isNaN(value))) AS nan,
        toUInt32(countIf(value = inf)) AS pos_inf, toUInt32(countIf(value = -inf)) AS neg_inf,
        toUInt32(countIf(isNull(value))) AS odd,
        argMin(tuple(value), ${place}).1 AS first, argMax(tuple(value), ${place}).1 AS last,
        minOrNullIf(value, isFinite(value)) AS min, maxOrNullIf(value, isFinite(value)) AS max,
        min(step) AS first_step, max(step) AS last_step, toBool(countIf(isNotNull(epoch)) > 0) AS has_epoch,
        min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
      FROM ${database}.metrics AS m WHERE group_key IN {groups:Array(String)}
      GROUP BY key, phase ORDER BY key, phase`,
    params: { groups: groups.map((group) => group.groupKey), ranks: groups.map((group) => String(group.rank)) },
  };
}
