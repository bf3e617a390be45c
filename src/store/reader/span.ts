// One span with what hangs on it.

import { jsonRaw } from "#store/payload-sql.ts";
import type { Store } from "#store/store.ts";
import { cellBytesMax, cutJson, cutText } from "./cut-text.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, floatWord, int, nullable, type RowOf, readRow, readRows, text } from "./native-rows.ts";
import { rowPlaceSql } from "./record-place.ts";

/** How much of a span's own attributes is shown. */
const detailBytesMax = 1024 * 1024;

const shown = (table: string, column: string): string =>
  `${cutJson(`${table}.${column}`, detailBytesMax)} AS ${column}`;

/** The place of the whole record if some of it is cut; '' otherwise. */
const record = (table: string, ...columns: readonly string[]): string => {
  const isCut = columns.map((column) => `length(${table}.${column}) > ${detailBytesMax}`).join(" OR ");
  return `if(${isCut}, ${rowPlaceSql}, '') AS record`;
};

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
  record: text,
  mark_count: int,
  children: int,
  snapshots: int,
};

/** A Cirron span, or by `node:<event id>` a node execution shown as one: its whole record as attributes. */
export function readSpan(store: Store, groups: readonly string[], id: string): Promise<RowOf<typeof spanRow> | null> {
  const { database } = store;
  const spanSql = `SELECT span_id AS id, parent_id AS parent, toString(name) AS name, index, toUInt32(0) AS flags, start_ns,
      end_ns, cpu_ns, gpu_ns, memory_peak_bytes, CAST(rank, 'Nullable(Int32)') AS rank, pid, thread_id AS thread,
      ${shown("s", "attrs")}, ${shown("s", "extra")}, ${record("s", "attrs", "extra")},
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.marks
        WHERE ${inGroups} AND span_id = {id:String})) AS mark_count,
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.spans
        WHERE ${inGroups} AND parent_id = {id:String})) AS children,
      assumeNotNull((SELECT toUInt32(count()) FROM ${database}.snapshots
        WHERE ${inGroups} AND span_id = {id:String})) AS snapshots
    FROM ${database}.spans AS s WHERE ${inGroups} AND span_id = {id:String} LIMIT 1`;
  const absent = (type: string) => `CAST(NULL, 'Nullable(${type})')`;
  const nodeSql = `SELECT concat('node:', event_id) AS id, ${absent("String")} AS parent,
      if(processor = '', node_id, toString(processor)) AS name, ${absent("Int64")} AS index,
      toUInt32(4 + if(status = 'error', 8, 0)) AS flags, start_ns, end_ns,
      CAST(cpu_ms * 1000000, 'Nullable(Int64)') AS cpu_ns, ${absent("Int64")} AS gpu_ns,
      ${absent("Int64")} AS memory_peak_bytes, ${absent("Int32")} AS rank, ${absent("Int64")} AS pid,
      ${absent("Int64")} AS thread, ${cutJson("n.payload", detailBytesMax)} AS attrs, '' AS extra, ${record("n", "payload")}, toUInt32(0) AS mark_count, toUInt32(0) AS children, toUInt32(0) AS snapshots
    FROM ${database}.nodes AS n WHERE ${inGroups} AND event_id = {id:String} LIMIT 1`;
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
  record: text,
};

export function readMarksOfSpan(store: Store, groups: readonly string[], id: string) {
  return readRows(store, markRow, {
    sql: `SELECT id, name, kind, value, text, ts_ns, attrs, extra, record FROM (SELECT mark_id AS id, toString(name) AS name, toString(kind) AS kind,
        multiIf(isNotNull(value_float), value_float, isNotNull(value_int), toFloat64(value_int),
          isNotNull(value_bool), toFloat64(value_bool), NULL) AS value,
        multiIf(isNotNull(value_string), assumeNotNull(value_string), isNotNull(value_int), toString(assumeNotNull(value_int)),
          isNotNull(value_bool), if(value_bool = 1, 'true', 'false'),
          isNotNull(value_float), toString(assumeNotNull(value_float)), ${jsonRaw("m.extra", "value")}) AS whole,
        ${cutText("whole", cellBytesMax)} AS text, ts_ns, ${cutJson("m.attrs", cellBytesMax)} AS attrs,
        ${cutJson("m.extra", cellBytesMax)} AS extra,
        if(greatest(length(whole), length(m.attrs), length(m.extra)) > ${cellBytesMax}, ${rowPlaceSql}, '') AS record
      FROM ${store.database}.marks AS m WHERE ${inGroups} AND span_id = {id:String} ORDER BY ts_ns, mark_id LIMIT 1000)`,
    params: { groups, id },
  });
}
