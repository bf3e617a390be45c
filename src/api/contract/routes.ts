// The schemas of every route of `paths.ts`. Server routes, the OpenAPI document and the clients are made from this
// table; a route that is not here does not exist. Where `answer` is a file, `media` names its types instead.

import type { Static, TSchema } from "typebox";
import { ingestPaths } from "#protocol/facts.ts";
import * as admin from "./admin.ts";
import * as command from "./command.ts";
import * as compare from "./compare.ts";
import { ExportQuery, RunExportQuery } from "./export.ts";
import { RunHistory, RunHistoryAnswer } from "./history.ts";
import * as ingest from "./ingest.ts";
import * as judge from "./judge.ts";
import * as launch from "./launch.ts";
import { LiveQuery } from "./live.ts";
import type { RouteName } from "./paths.ts";
import * as pipeline from "./pipeline.ts";
import { PostMortem } from "./post-mortem.ts";
import * as record from "./record.ts";
import * as rule from "./rule.ts";
import * as run from "./run.ts";
import { Done, PageQuery, RunPath, WindowQuery } from "./scalar.ts";
import { Type } from "./schema.ts";
import * as series from "./series.ts";
import * as snapshot from "./snapshot.ts";
import * as span from "./span.ts";
import * as sql from "./sql.ts";
import * as view from "./view.ts";

export interface RouteSchemas {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A success is answered with this JSON… */
  readonly answer?: TSchema;
  /** …or with bytes of one of these types. */
  readonly media?: readonly string[];
  /** Status of a success, 200 when absent. */
  readonly status?: number;
  /** The body is raw bytes of one of these types. */
  readonly bodyMedia?: readonly string[];
}

const files = [
  "application/x-ndjson",
  "text/csv",
  "application/vnd.apache.parquet",
  "application/json",
  "application/x-protobuf",
] as const;
const octets = ["application/octet-stream"] as const;
const batch = {
  bodyMedia: ingestPaths.cirron.media,
  query: ingest.IngestQuery,
  answer: ingest.BatchAccepted,
  status: 202,
};
const lines = { query: ingest.IngestQuery, answer: ingest.StreamAccepted, status: 202 };
const otlp = { query: ingest.IngestQuery, media: ingestPaths.otlpMetrics.media };
const blob = { bodyMedia: ingestPaths.blob.media, query: ingest.IngestQuery, answer: ingest.BlobStored, status: 201 };
const page = Type.Object({ ...PageQuery });

export const schemas = {
  runs: { query: run.RunsQuery, answer: run.RunsAnswer },
  deleteRuns: { body: run.DeleteRunsBody, answer: run.DeleteRunsAnswer },
  fields: { query: run.FieldsQuery, answer: run.FieldsAnswer },
  run: { params: RunPath, answer: run.Run },
  patchRun: { params: RunPath, body: run.RunPatch, answer: run.Run },
  joinRuns: { params: RunPath, body: run.JoinRunsBody, answer: run.Run },
  partRuns: { params: RunPath, answer: run.PartRunsAnswer },
  runHistory: { params: RunPath, body: RunHistory, answer: RunHistoryAnswer },
  deleteRun: { params: RunPath, answer: Done },
  verdicts: { params: RunPath, answer: judge.VerdictsAnswer },
  postMortem: { params: RunPath, answer: PostMortem },
  runAlerts: { params: RunPath, query: rule.AlertsQuery, answer: rule.AlertsAnswer },
  gate: { params: RunPath, body: rule.GateBody, answer: rule.TriedAnswer },
  metrics: { params: RunPath, answer: series.MetricsAnswer },
  metric: { params: series.MetricPath, query: series.SeriesQuery, answer: series.SeriesAnswer },
  series: { body: series.SeriesBody, answer: series.SeriesAnswer },
  spans: { params: RunPath, query: span.SpansQuery, answer: span.SpansAnswer },
  spanFlame: { params: RunPath, query: span.SpanFlameQuery, answer: span.SpanFlameAnswer },
  spanSummary: { params: RunPath, query: span.SpanSummaryQuery, answer: span.SpanSummaryAnswer },
  span: { params: span.SpanPath, answer: span.SpanDetail },
  snapshots: { params: RunPath, query: Type.Object({ ...WindowQuery }), answer: snapshot.SnapshotsAnswer },
  tensor: { params: snapshot.TensorPath, query: snapshot.TensorQuery, answer: snapshot.TensorAnswer },
  tensorValues: {
    params: snapshot.TensorPath,
    query: snapshot.TensorValuesQuery,
    answer: snapshot.TensorValuesAnswer,
  },
  logs: { params: RunPath, query: record.LogsQuery, answer: record.LogsAnswer },
  params: { params: RunPath, answer: record.ParamsAnswer },
  artifacts: { params: RunPath, query: page, answer: record.ArtifactsAnswer },
  artifact: { params: record.ArtifactPath, media: octets },
  checkpoints: { params: RunPath, query: page, answer: record.CheckpointsAnswer },
  events: { params: RunPath, query: record.EventsQuery, answer: record.EventsAnswer },
  event: { params: record.EventPath, media: ["text/plain"] },
  gaps: { params: RunPath, answer: record.GapsAnswer },
  runFaults: { params: RunPath, query: record.FaultsQuery, answer: record.FaultsAnswer },
  graph: { params: RunPath, answer: pipeline.GraphAnswer },
  completeness: { params: RunPath, answer: pipeline.RunCompleteness },
  commands: { params: RunPath, answer: command.CommandsAnswer },
  sendCommand: { params: RunPath, body: command.CommandBody, answer: command.SentCommand, status: 202 },
  cancelCommand: { params: command.CommandPath, answer: command.Command },
  exportRun: { params: RunPath, query: RunExportQuery, media: files },
  exportRuns: { query: ExportQuery, media: files },
  completenessAll: { answer: pipeline.CompletenessAnswer },
  launches: { query: launch.LaunchesQuery, answer: launch.LaunchesAnswer },
  launch: { params: launch.LaunchPath, query: launch.LaunchQuery, answer: launch.LaunchAnswer },
  compare: { query: compare.CompareQuery, answer: compare.CompareAnswer },
  faults: { query: record.FaultsQuery, answer: record.FaultsAnswer },
  faultRaw: { params: record.FaultPath, media: octets },
  sql: { body: sql.SqlBody, answer: sql.SqlAnswer },
  sqlSchema: { answer: sql.SqlSchemaAnswer },
  rules: { answer: rule.RulesAnswer },
  putRule: { params: rule.RulePath, body: rule.RuleText, answer: rule.WatchedRule },
  deleteRule: { params: rule.RulePath, answer: Done },
  armRule: { params: rule.RulePath, body: rule.ArmBody, answer: rule.WatchedRule },
  silenceRule: { params: rule.RulePath, body: rule.SilenceBody, answer: rule.WatchedRule },
  testRule: { body: rule.RuleTestBody, answer: rule.TriedAnswer },
  alerts: { query: rule.AlertsQuery, answer: rule.AlertsAnswer },
  live: { query: LiveQuery, media: ["text/event-stream"] },
  health: { answer: admin.HealthAnswer },
  session: { answer: admin.SessionAnswer },
  login: { body: admin.SessionBody, answer: admin.SessionAnswer },
  logout: { answer: Done },
  keys: { answer: admin.KeysAnswer },
  createKey: { body: admin.KeyBody, answer: admin.KeyCreated, status: 201 },
  deleteKey: { params: admin.KeyPath, answer: Done },
  retention: { answer: admin.RetentionAnswer },
  setRetention: { body: admin.Retention, answer: admin.RetentionAnswer },
  setAside: { answer: admin.AsideAnswer },
  retryAside: { body: admin.AsideBody, answer: admin.AsideRetried },
  views: { query: view.ViewsQuery, answer: view.ViewsAnswer },
  saveView: { params: view.ViewPath, body: view.ViewBody, answer: view.SavedView },
  deleteView: { params: view.ViewPath, answer: Done },
  backup: { media: ["application/x-tar"] },
  audit: { query: admin.AuditQuery, answer: admin.AuditAnswer },

  cirron: batch,
  cirronDefault: batch,
  cirronRun: { ...batch, params: ingest.IngestRunPath },
  blob: { ...blob, params: ingest.BlobPath },
  blobDefault: { ...blob, params: ingest.BlobPath },
  blobRun: { ...blob, params: ingest.RunBlobPath },
  readBlob: { params: ingest.BlobPath, media: octets },
  semantiva: { ...lines, bodyMedia: ingestPaths.semantiva.media },
  xtrack: { ...lines, bodyMedia: ingestPaths.xtrack.media },
  otlpMetrics: { ...otlp, bodyMedia: ingestPaths.otlpMetrics.media },
  otlpLogs: { ...otlp, bodyMedia: ingestPaths.otlpLogs.media },
  otlpOwnTraces: { ...otlp, bodyMedia: ingestPaths.otlpOwnTraces.media },
  otlpOwnMetrics: { ...otlp, bodyMedia: ingestPaths.otlpOwnMetrics.media },
  otlpOwnLogs: { ...otlp, bodyMedia: ingestPaths.otlpOwnLogs.media },
  output: { ...lines, params: ingest.IngestRunPath, query: ingest.OutputQuery, bodyMedia: ingestPaths.output.media },
  wrapper: {
    ...lines,
    params: ingest.IngestRunPath,
    query: ingest.WrapperQuery,
    bodyMedia: ingestPaths.wrapper.media,
  },
  putArtifact: {
    params: ingest.ArtifactPutPath,
    bodyMedia: octets,
    answer: record.ArtifactStored,
    status: 201,
  },

  mcp: { bodyMedia: ["application/json"], media: ["application/json", "text/event-stream"] },

  healthz: { answer: admin.Liveness },
  readyz: { query: admin.ReadyQuery, answer: admin.Readiness },
  prometheus: { media: ["text/plain"] },
  openapi: { answer: Type.Record(Type.String(), Type.Unknown()) },
  reference: { media: ["text/html"] },
} as const satisfies Record<RouteName, RouteSchemas>;

type Schemas = typeof schemas;
type StaticOf<S> = S extends TSchema ? Static<S> : never;
type Part<N extends RouteName, P extends string> = Schemas[N] extends { readonly [K in P]: infer S }
  ? StaticOf<S>
  : undefined;

/** What a caller gives and gets, by route name. */
export type ParamsOf<N extends RouteName> = Part<N, "params">;
export type QueryOf<N extends RouteName> = Part<N, "query">;
export type BodyOf<N extends RouteName> = Part<N, "body">;
export type AnswerOf<N extends RouteName> = Part<N, "answer">;

type Given<K extends string, T> = [T] extends [undefined] ? unknown : { readonly [P in K]: T };
type MaybeGiven<K extends string, T> = [T] extends [undefined]
  ? unknown
  : Record<string, never> extends T
    ? { readonly [P in K]?: T }
    : { readonly [P in K]: T };

/** The parts of a request: path and body must be given where the route has them, a query where it has to say something. */
export type Call<N extends RouteName> = Given<"params", ParamsOf<N>> &
  MaybeGiven<"query", QueryOf<N>> &
  Given<"body", BodyOf<N>>;
