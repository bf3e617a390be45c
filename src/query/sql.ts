// SQL that people write: checked, then run with a guest's rights and limits.

import { started } from "#base/started.ts";
import { type OutageKind, StoreOutage } from "#store/outage.ts";
import { viewSelects } from "#store/schema/views.ts";
import { allowedFunctions } from "#store/sql-guard/functions.ts";
import {
  answerUserSql,
  checkUserSql,
  type GuestPatience,
  readGuestColumns,
  streamUserSql,
} from "#store/sql-guard/user-sql.ts";
import type { Sources } from "./sources.ts";

export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** One JSON array a line. */
  readonly rows: AsyncIterable<Uint8Array>;
}

export interface SqlMistake {
  readonly message: string;
  readonly offset: number | null;
}

export async function answerSql(
  { store }: Pick<Sources, "store">,
  sql: string,
  patience: GuestPatience,
): Promise<SqlAnswer | SqlMistake> {
  const verdict = checkUserSql(store, sql);
  if (!verdict.ok) return toMistake(verdict.refusal);
  return orMistake(async () => {
    const { header, chunks } = await answerUserSql(store, verdict.sql, patience);
    const { names, types } = header;
    const columns = names.map((name, at) => ({ name, type: types[at] ?? "" }));
    // What fails before the first row is a mistake that can be told.
    return { columns, rows: await started(chunks) };
  });
}

/** The answer as a Parquet file; a query that fails does so before its first bytes. */
export async function writeSqlParquet(
  { store }: Sources,
  sql: string,
  patience: GuestPatience,
): Promise<AsyncIterable<Uint8Array> | SqlMistake> {
  const verdict = checkUserSql(store, sql);
  if (!verdict.ok) return toMistake(verdict.refusal);
  return orMistake(() => started(streamUserSql(store, verdict.sql, "Parquet", patience)));
}

/** What the person can mend; not an engine that is away, nor a question that was cancelled. */
const mistakes: ReadonlySet<OutageKind> = new Set(["refused", "timeout", "too_large"]);

async function orMistake<T>(work: () => Promise<T>): Promise<T | SqlMistake> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreOutage && mistakes.has(error.kind)) return { message: error.message, offset: null };
    throw error;
  }
}

/** What SQL can be asked of, with its columns. */
export async function describeSql({ store }: Sources) {
  const columns = Map.groupBy(await readGuestColumns(store), (row) => row.table);
  const tables = Object.keys(viewSelects(store.database)).map((name) => ({
    name,
    means: meaningOf[name] ?? "",
    columns: (columns.get(name) ?? []).map((row) => ({ name: row.name, type: row.type })),
  }));
  return { tables, functions: allowedFunctions() };
}

function toMistake({ reason, at }: { readonly reason: string; readonly at: number }): SqlMistake {
  return { message: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`, offset: at };
}

const meaningOf: Readonly<Record<string, string>> = {
  runs: "One row a run.",
  launches: "Run-space sweeps, one row per attempt.",
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
  gaps: "Sequence numbers that never arrived.",
  otel_spans: "OpenTelemetry spans in their own terms.",
  otel_logs: "OpenTelemetry log records.",
  otel_points: "Points of OpenTelemetry metrics, whole.",
  TraceSpan: "Spans as the Cirron document names them.",
  TraceMark: "Marks as the Cirron document names them.",
  TraceSnapshot: "Snapshots as the Cirron document names them.",
};
