// One span with what hangs on it.

import { jsonRaw } from "#store/payload-sql.ts";
import type { Query } from "#store/store.ts";

const inGroups = "group_key IN {groups:Array(String)}";

export function spanQuery(database: string, groups: readonly string[], id: string): Query {
  return {
    sql: `SELECT span_id AS id, parent_id AS parent, toString(name) AS name, index, toUInt32(0) AS flags, start_ns, end_ns,
        cpu_ns, gpu_ns, memory_peak_bytes, CAST(rank, 'Nullable(Int32)') AS rank, pid, thread_id AS thread, attrs, extra,
        (SELECT toUInt32(count()) FROM ${database}.marks WHERE ${inGroups} AND span_id = {id:String}) AS mark_count,
        (SELECT toUInt32(count()) FROM ${database}.spans WHERE ${inGroups} AND parent_id = {id:String}) AS children,
        (SELECT toUInt32(count()) FROM ${database}.snapshots WHERE ${inGroups} AND span_id = {id:String}) AS snapshots
      FROM ${database}.spans WHERE ${inGroups} AND span_id = {id:String} LIMIT 1`,
    params: { groups: [...groups], id },
  };
}

/** A node execution, shown as a span: its whole record as attributes. */
export function nodeQuery(database: string, groups: readonly string[], eventId: string): Query {
  return {
    sql: `SELECT concat('node:', event_id) AS id, CAST(NULL, 'Nullable(String)') AS parent,
        if(processor = '', node_id, toString(processor)) AS name, CAST(NULL, 'Nullable(Int64)') AS index,
        toUInt32(4 + if(status = 'error', 8, 0)) AS flags, start_ns, end_ns, cpu_ms * 1000000 AS cpu_ns,
        CAST(NULL, 'Nullable(Int64)') AS gpu_ns, CAST(NULL, 'Nullable(Int64)') AS memory_peak_bytes,
        CAST(NULL, 'Nullable(Int32)') AS rank, CAST(NULL, 'Nullable(Int64)') AS pid,
        CAST(NULL, 'Nullable(Int64)') AS thread, payload AS attrs, '' AS extra,
        toUInt32(0) AS mark_count, toUInt32(0) AS children, toUInt32(0) AS snapshots
      FROM ${database}.nodes WHERE ${inGroups} AND event_id = {id:String} LIMIT 1`,
    params: { groups: [...groups], id: eventId },
  };
}

export function spanRefsQuery(database: string, groups: readonly string[], ids: readonly string[]): Query {
  return {
    sql: `SELECT span_id AS id, parent_id AS parent, toString(name) AS name, index FROM ${database}.spans
      WHERE ${inGroups} AND span_id IN {ids:Array(String)}`,
    params: { groups: [...groups], ids: [...ids] },
  };
}

export function marksOfSpanQuery(database: string, groups: readonly string[], id: string): Query {
  return {
    sql: `SELECT mark_id AS id, toString(name) AS name, toString(kind) AS kind,
        multiIf(isNotNull(value_float), value_float, isNotNull(value_int), toFloat64(value_int),
          isNotNull(value_bool), toFloat64(value_bool), NULL) AS value,
        multiIf(isNotNull(value_string), assumeNotNull(value_string), isNotNull(value_int), toString(value_int),
          isNotNull(value_bool), if(value_bool = 1, 'true', 'false'), isNotNull(value_float), toString(value_float),
          ${jsonRaw("extra", "value")}) AS text, ts_ns, attrs, extra
      FROM ${database}.marks WHERE ${inGroups} AND span_id = {id:String} ORDER BY ts_ns, mark_id LIMIT 1000`,
    params: { groups: [...groups], id },
  };
}
