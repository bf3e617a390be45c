// The metrics of a run: one row per key and phase, with exact counts.

import { stepOr, tieOf } from "#store/point-order.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, float, floatWord, int, list, nullable, readRows, text, word } from "./native-rows.ts";

const metricRow = {
  key: text,
  phase: text,
  /** `mark` for numeric marks, else the protocol or `system`. */
  source: word<string>(),
  workers: list(text),
  count: int,
  nan: int,
  pos_inf: int,
  neg_inf: int,
  odd: int,
  first: nullable(floatWord),
  last: nullable(floatWord),
  /** Of finite values. */
  min: nullable(float),
  max: nullable(float),
  first_step: nullable(decimal),
  last_step: nullable(decimal),
  first_ns: decimal,
  last_ns: decimal,
};

export function readMetrics(store: Store, groups: readonly { readonly groupKey: string; readonly rank: number }[]) {
  const place = `(${stepOr("m.step")}, m.ts_ns, ${tieOf("m")}, m.entry, m.worker)`;
  return readRows(store, metricRow, {
    sql: `SELECT toString(key) AS key, toString(phase) AS phase,
        if(${withTrait("min(m.source)", "sessions")}, 'mark', toString(min(m.source))) AS source,
        arraySort(groupUniqArray(if(${withTrait("m.source", "sessions")},
          transform(toString(group_key), {groups:Array(String)}, {ranks:Array(String)}, ''), toString(worker)))) AS workers,
        toUInt32(count()) AS count, toUInt32(countIf(isNaN(value))) AS nan,
        toUInt32(countIf(value = inf)) AS pos_inf, toUInt32(countIf(value = -inf)) AS neg_inf,
        toUInt32(countIf(isNull(value))) AS odd,
        argMin(tuple(value), ${place}).1 AS first, argMax(tuple(value), ${place}).1 AS last,
        minOrNullIf(value, isFinite(value)) AS min, maxOrNullIf(value, isFinite(value)) AS max,
        min(step) AS first_step, max(step) AS last_step,
        min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
      FROM ${store.database}.metrics AS m WHERE ${inGroups}
      GROUP BY key, phase ORDER BY key, phase`,
    params: { groups: groups.map((group) => group.groupKey), ranks: groups.map((group) => String(group.rank)) },
  });
}
