// Points in the order in which they came: for a subscriber who was not told of them then.

import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, floatWord, nullable, type RowOf, readRows, text } from "./native-rows.ts";
import { enclosingSql } from "./points.ts";

/** Rows of a collector's journal records behind `after`, up to `last`. */
export interface Arrived {
  readonly collector: string;
  readonly after: number;
  readonly last: number;
}

const arrivedPoint = {
  of_group: text,
  of_key: text,
  of_phase: text,
  of_worker: text,
  at_step: nullable(decimal),
  at_epoch: nullable(decimal),
  at_ns: decimal,
  v: nullable(floatWord),
  at_jpos: decimal,
};
export type ArrivedPoint = RowOf<typeof arrivedPoint>;

export const hasArrived =
  "collector = {collector:String} AND jpos > {arrived_after:Int64} AND jpos <= {arrived_last:Int64}";

export function paramsOfArrived({ collector, after, last }: Arrived) {
  return { collector, arrived_after: after, arrived_last: last };
}

/** Whole journal records, with about `limit` points in all. A mark's step and epoch are those of the spans around it. */
export function readArrivedPoints(
  store: Store,
  groups: readonly string[],
  arrived: Arrived,
  limit: number,
): Promise<ArrivedPoint[]> {
  const { database } = store;
  const place = (name: string) => `ifNull(m.${name}, if(m.span_id = '', NULL, e.${name}))`;
  const points = `SELECT * FROM ${database}.metrics WHERE ${inGroups} AND ${hasArrived}
    ORDER BY jpos LIMIT {limit:UInt32} WITH TIES`;
  return readRows(store, arrivedPoint, {
    sql: `SELECT toString(m.group_key) AS of_group, toString(m.key) AS of_key, toString(m.phase) AS of_phase,
        toString(m.worker) AS of_worker, ${place("step")} AS at_step, ${place("epoch")} AS at_epoch, m.ts_ns AS at_ns,
        m.value AS v, m.jpos AS at_jpos
      FROM (${points}) AS m LEFT JOIN (${enclosingSql(database, hasArrived)}) AS e ON e.span_id = m.span_id
      ORDER BY m.jpos, m.jrow, m.entry`,
    params: { ...paramsOfArrived(arrived), groups, limit },
  });
}
