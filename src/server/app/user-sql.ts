// People's SQL, bound to the guarded store.

import type { SqlMistake, SqlPort } from "#api/sql-port.ts";
import { StoreOutage } from "#store/outage.ts";
import { guestDatabaseOf, viewSelects } from "#store/schema/views.ts";
import { allowedFunctions } from "#store/sql-guard/functions.ts";
import { answerUserSql, checkUserSql, streamUserSql } from "#store/sql-guard/user-sql.ts";
import type { Store } from "#store/store.ts";

const formats = { csv: "CSVWithNames", parquet: "Parquet" } as const;

export function createSqlPort(store: Store, rowsMax: number): SqlPort {
  return {
    rowsMax,
    async answer(sql, signal) {
      const verdict = checkUserSql(store, sql);
      if (!verdict.ok) return toMistake(verdict.refusal);
      try {
        const { header, chunks } = await answerUserSql(store, verdict.sql, signal);
        const { names, types } = header ?? { names: [], types: [] };
        return { columns: names.map((name, at) => ({ name, type: types[at] ?? "" })), rows: chunks };
      } catch (error) {
        // A wrong query is the person's to mend; an engine that is away is not.
        if (error instanceof StoreOutage && !error.retryable) return { message: error.message, offset: null };
        throw error;
      }
    },
    file(sql, format, signal) {
      const verdict = checkUserSql(store, sql);
      return verdict.ok ? streamUserSql(store, verdict.sql, formats[format], signal) : toMistake(verdict.refusal);
    },
    async schema() {
      const rows = await store.query<{ table: string; name: string; type: string }>({
        sql: `SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY table, position`,
        params: { database: guestDatabaseOf(store.database) },
      });
      const columns = Map.groupBy(rows, (row) => row.table);
      const tables = Object.keys(viewSelects(store.database)).map((name) => ({
        name,
        means: meaningOf[name] ?? "",
        columns: (columns.get(name) ?? []).map((row) => ({ name: row.name, type: row.type })),
      }));
      return { tables, functions: allowedFunctions() };
    },
  };
}

function toMistake(refusal: { readonly reason: string; readonly at: number }): SqlMistake {
  const { reason, at } = refusal;
  return { message: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, offset: at };
}

const meaningOf: Readonly<Record<string, string>> = {
  runs: "One row a run.",
  launches: "Run-space sweeps, one row an attempt.",
  spans: "Cirron spans with the run they belong to.",
  marks: "Cirron marks.",
  snapshots: "Tensor statistics.",
  metrics: "Points of all series: XTrack metrics, numeric marks, system samples.",
  params: "Parameters, flattened to dotted names.",
  logs: "Log events and captured output.",
  artifacts: "Files that runs named.",
  checkpoints: "Checkpoints with their metrics.",
  nodes: "Executed pipeline nodes.",
  events: "Everything else that runs received.",
  faults: "What could not be understood, with its bytes.",
  gaps: "Sequence numbers that never came.",
  TraceSpan: "Spans as the Cirron document names them.",
  TraceMark: "Marks as the Cirron document names them.",
  TraceSnapshot: "Snapshots as the Cirron document names them.",
};
