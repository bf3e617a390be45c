// One kind of record of some runs as a table, for CSV and Parquet, and their spans and nodes for a trace.

import { exportSelect } from "#store/schema/views.ts";
import { type Query, type Store, takenAway, withOptions } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, flag, int, nullable, type RowOf, streamRows, text, word } from "./native-rows.ts";

export interface ExportScope {
  readonly workspace: string;
  readonly runs: readonly string[];
}

export function exportTableQuery(database: string, kind: string, { workspace, runs }: ExportScope): Query {
  return { sql: exportSelect(database, kind), params: { workspace, runs } };
}

const traceSlice = {
  kind: word<"span" | "node">(),
  id: text,
  name: text,
  rank: int,
  thread: text,
  start_ns: decimal,
  end_ns: decimal,
  cpu_ns: nullable(decimal),
  gpu_ns: nullable(decimal),
  /** A span inside it has GPU time too. */
  gpu_within: flag,
  index: nullable(decimal),
  /** Strict JSON of the attributes, '' for none. */
  attrs: text,
};
export type TraceSlice = RowOf<typeof traceSlice>;

/** By start, the longer one first. */
export function streamSlices(store: Store, groups: readonly string[]): AsyncGenerator<TraceSlice> {
  const { database } = store;
  const query = {
    sql: `SELECT * FROM (
        SELECT 'span' AS kind, span_id AS id, toString(name) AS name, rank,
          concat(ifNull(toString(thread_id), ''), if(isNull(pid), '', concat(' of process ', toString(assumeNotNull(pid))))) AS thread,
          start_ns, end_ns, cpu_ns, gpu_ns,
          toUInt8(span_id IN (SELECT assumeNotNull(parent_id) FROM ${database}.spans
            WHERE ${inGroups} AND isNotNull(gpu_ns) AND isNotNull(parent_id))) AS gpu_within, index, attrs
        FROM ${database}.spans WHERE ${inGroups}
        UNION ALL SELECT 'node' AS kind, node_id AS id, if(processor = '', node_id, toString(processor)) AS name,
          toInt32(0) AS rank, '' AS thread, start_ns, end_ns, CAST(cpu_ms * 1000000, 'Nullable(Int64)') AS cpu_ns,
          CAST(NULL AS Nullable(Int64)) AS gpu_ns, toUInt8(0) AS gpu_within, CAST(NULL AS Nullable(Int64)) AS index,
          '' AS attrs
        FROM ${database}.nodes WHERE ${inGroups} AND start_ns > 0)
      ORDER BY start_ns, end_ns DESC, id`,
    params: { groups },
  };
  return streamRows(withOptions(store, takenAway), traceSlice, query);
}
