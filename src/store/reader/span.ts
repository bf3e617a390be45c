// One span with what hangs on it.

import { jsonRaw } from "#store/payload-sql.ts";
import type { Store } from "#store/store.ts";
import { decimal, floatWord, int, nullable, type RowOf, readRow, readRows, text } from "./native-rows.ts";

const inGroups = "group_key IN {groups:Array(String)}";

const spanRow = {
  id: text,
  parent: nullable(text),
  name: text,
  index: nullable(decimal),
  flags: int,
  start_ns: decimal,
  end_ns: decimal,
  cpu_ns: nullable(decimal),
  gpu_ns: nullable(decimal),
  memory_peak_bytes: nullable(decimal),
  rank: nullable(int),
  pid: nullable(decimal),
  thread: nullable(decimal),
  attrs: text,
  extra: text,
  mark_count: int,
  children: int,
  snapshots: int,
};

/** A Cirron span, or by `node:<event id>` a node execution shown as one: its whole record as attributes. */
export function readSpan(store: Store, groups: readonly string[], id: string): Promise<RowOf<typeof spanRow> | null> {
  const { database } = store;
  const spanSql = `SELECT span_id AS id, parent_id AS parent, toString(name) AS name, index, toUInt32(0) AS flags, start_ns,
      end_ns, cpu_ns, gpu_ns, memory_peak_bytes, CAST(rank, 'Nullable(Int32)') AS rank, pid, thread_id AS thread, attrs, extra,
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.marks
        WHERE ${inGroups} AND span_id = {id:String})) AS mark_count,
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.spans
        WHERE ${inGroups} AND parent_id = {id:String})) AS children,
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.snapshots
        WHERE ${inGroups} AND span_id = {id:String})) AS snapshots
    FROM ${database}.spans WHERE ${inGroups} AND span_id = {id:String} LIMIT 1`;
  const absent = (type: string) => `CAST(NULL, 'Nullable(${type})')`;
  const nodeSql = `SELECT concat('node:', event_id) AS id, ${absent("String")} AS parent,
      if(processor = '', node_id, toString(processor)) AS name, ${absent("Int64")} AS index,
      toUInt32(4 + if(status = 'error', 8, 0)) AS flags, start_ns, end_ns,
      CAST(cpu_ms * 1000000, 'Nullable(Int64)') AS cpu_ns, ${absent("Int64")} AS gpu_ns,
      ${absent("Int64")} AS memory_peak_bytes, ${absent("Int32")} AS rank, ${absent("Int64")} AS pid,
      ${absent("Int64")} AS thread, payload AS attrs, '' AS extra, toUInt32(0) AS mark_count, toUInt32(0) AS children, toUInt32(0) AS snapshots
    FROM ${database}.nodes WHERE ${inGroups} AND event_id = {id:String} LIMIT 1`;
  const isNode = id.startsWith("node:");
  return readRow(store, spanRow, {
    sql: isNode ? nodeSql : spanSql,
    params: { groups, id: isNode ? id.slice("node:".length) : id },
  });
}

const spanRef = { id: text, parent: nullable(text), name: text, index: nullable(decimal) };

/** Null when it has not arrived. */
export function readSpanRef(store: Store, groups: readonly string[], id: string) {
  return readRow(store, spanRef, {
    sql: `SELECT span_id AS id, parent_id AS parent, toString(name) AS name, index FROM ${store.database}.spans
      WHERE ${inGroups} AND span_id = {id:String} LIMIT 1`,
    params: { groups, id },
  });
}

const markRow = {
  id: text,
  name: text,
  kind: text,
  value: nullable(floatWord),
  text,
  ts_ns: decimal,
  attrs: text,
  extra: text,
};

export function readMarksOfSpan(store: Store, groups: readonly string[], id: string) {
  return readRows(store, markRow, {
    sql: `SELECT mark_id AS id, toString(name) AS name, toString(kind) AS kind,
        multiIf(isNotNull(value_float), value_float, isNotNull(value_int), toFloat64(value_int),
          isNotNull(value_bool), toFloat64(value_bool), NULL) AS value,
        multiIf(isNotNull(value_string), assumeNotNull(value_string), isNotNull(value_int), toString(assumeNotNull(value_int)),
          isNotNull(value_bool), if(value_bool = 1, 'true', 'false'),
          isNotNull(value_float), toString(assumeNotNull(value_float)), ${jsonRaw("extra", "value")}) AS text, ts_ns, attrs, extra
      FROM ${store.database}.marks WHERE ${inGroups} AND span_id = {id:String} ORDER BY ts_ns, mark_id LIMIT 1000`,
    params: { groups, id },
  });
}
