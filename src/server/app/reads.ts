// The routes' reads, bound to the store's readers.

import type { Reads, ResolvedRun, RunGroup, SpanRecord } from "#api/reads.ts";
import { readMetricCells, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import { groupsOfRunsQuery, resolveQuery } from "#store/reader/heads.ts";
import { metricsQuery } from "#store/reader/metrics.ts";
import * as records from "#store/reader/records.ts";
import * as details from "#store/reader/run-details.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import * as snapshots from "#store/reader/snapshots.ts";
import * as spans from "#store/reader/span.ts";
import { spanSummaryQuery } from "#store/reader/span-summary.ts";
import * as timeline from "#store/reader/timeline.ts";
import type { Store } from "#store/store.ts";
import { createCompareReads } from "./compare-reads.ts";
import { createPipelineReads } from "./pipeline-reads.ts";
import { createRecordReads } from "./record-reads.ts";
import { createSeriesReads } from "./series-reads.ts";

export function createReads(store: Store): Reads {
  const { database } = store;
  return {
    pipelines: createPipelineReads(store),
    records: createRecordReads(store),
    compare: createCompareReads(store),
    resolve: (workspace, id) => resolve(store, workspace, id),
    groupsOfIds: (workspace, ids) => readGroupsOfIds(store, workspace, ids),
    groupsOf: (workspace, runs) => readGroups(store, workspace, runs),
    runFacts: (workspace, groups) =>
      readRunFacts(store, groups === null ? { workspace } : { workspace, groupKeys: groups }),
    paramCells: (workspace, name, groups) => readParamCells(store, workspace, name, groups),
    metricCells: (workspace, key, stat, groups) => readMetricCells(store, workspace, key, stat, groups),
    metricCounts: (workspace, keys, groups) => readMetricCounts(store, workspace, keys, groups),
    fields: (workspace, text) => store.query(details.fieldsQuery(database, workspace, text)),
    runPayloads: (groups) => store.query(details.payloadsQuery(database, groups)),
    async counts(groups) {
      const rows = await store.query<{ kind: string; count: number }>(details.countsQuery(database, groups));
      return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
    },
    metrics: (groups) => store.query(metricsQuery(database, groups)),
    series: createSeriesReads(store),
    logs: (request) => store.query(records.logsQuery(database, request)),
    logLevels: (request) => store.query(records.logLevelsQuery(database, request)),
    params: (groups) => store.query(records.paramsQuery(database, groups)),
    artifacts: (request) => store.query(records.artifactsQuery(database, request)),
    checkpoints: (request) => store.query(records.checkpointsQuery(database, request)),
    faults: (request) => store.query(records.faultsQuery(database, request)),
    faultCodes: (request) => store.query(records.faultCodesQuery(database, request)),
    async faultRaw(workspace, id) {
      const [row] = await store.query<{ raw: string }>(records.faultRawQuery(database, workspace, id));
      return row === undefined ? null : Buffer.from(row.raw, "base64");
    },
    spanSummary: (window) => store.query(spanSummaryQuery(database, window)),
    tensors: (window, tensor) => store.query(snapshots.tensorsQuery(database, window, tensor)),
    tensorRows: (window, tensor, limit) => store.query(snapshots.tensorRowsQuery(database, window, tensor, limit)),
    blobsOfSpans: (workspace, spans) => store.query(snapshots.blobsOfSpansQuery(database, workspace, spans)),
    async snapshot(groups, id) {
      const rows = await store.query<{ span_id: string; tensor: string }>(
        snapshots.snapshotQuery(database, groups, id),
      );
      return rows[0] ?? null;
    },
    async span(groups, id) {
      const node = id.startsWith("node:") ? id.slice(5) : null;
      const query = node === null ? spans.spanQuery(database, groups, id) : spans.nodeQuery(database, groups, node);
      return (await store.query<SpanRecord>(query))[0] ?? null;
    },
    spanRefs: (groups, ids) => store.query(spans.spanRefsQuery(database, groups, ids)),
    marksOfSpan: (groups, id) => store.query(spans.marksOfSpanQuery(database, groups, id)),
    timeline: {
      parts: (groups) => timeline.readTimelineParts(store, groups),
      state: (groups, before) => timeline.readTimelineState(store, groups, before),
      spans: (table, range, signal) => timeline.readSpanBlocks(store, table, range, { signal }),
      oddIds: (table, range, signal) => timeline.readOddIds(store, table, range, { signal }),
      marks: (range, signal) => timeline.readMarkBlocks(store, range, { signal }),
    },
  };
}

interface ResolveRow {
  readonly alias: string;
  readonly group_key: string;
  readonly run_id: string;
  readonly last: string | null;
}

/** A canonical id wins over an alias, then the run that started last; the others are named beside it. */
async function resolve(store: Store, workspace: string, id: string): Promise<ResolvedRun | null> {
  const rows = await store.query<ResolveRow>(resolveQuery(store.database, workspace, [id]));
  const runId = chooseRun(rows, id);
  if (runId === undefined) return null;
  const also = [...new Set(rows.map((row) => row.run_id))].filter((other) => other !== runId);
  const groups = await readGroups(store, workspace, [runId]);
  const keys = groups.map((group) => group.groupKey);
  const aliases = await store.query<{ alias: string }>(details.aliasesQuery(store.database, workspace, keys));
  return { runId, groups, aliases: aliases.map(({ alias }) => alias), also };
}

function chooseRun(rows: readonly ResolveRow[], id: string): string | undefined {
  if (rows.some((row) => row.run_id === id)) return id;
  return rows.toSorted((a, b) => Number(BigInt(b.last ?? 0) - BigInt(a.last ?? 0)))[0]?.run_id;
}

/** The groups of the run that each id means, in two questions for any number of ids. */
async function readGroupsOfIds(
  store: Store,
  workspace: string,
  ids: readonly string[],
): Promise<Map<string, RunGroup[]>> {
  const rows = await store.query<ResolveRow>(resolveQuery(store.database, workspace, ids));
  const rowsOf = Map.groupBy(rows, (row) => row.alias);
  const runOf = new Map(ids.map((id) => [id, chooseRun(rowsOf.get(id) ?? [], id)]));
  const runs = [...new Set(runOf.values())].filter((run) => run !== undefined);
  const groupsOf = Map.groupBy(await readGroups(store, workspace, runs), (group) => group.run);
  return new Map(ids.map((id) => [id, groupsOf.get(runOf.get(id) ?? "") ?? []]));
}

async function readGroups(store: Store, workspace: string, runs: readonly string[]): Promise<RunGroup[]> {
  const rows = await store.query<{ group_key: string; run_id: string; protocol: string; rank: number }>(
    groupsOfRunsQuery(store.database, workspace, runs),
  );
  return rows.map((row) => ({ groupKey: row.group_key, run: row.run_id, protocol: row.protocol, rank: row.rank }));
}
