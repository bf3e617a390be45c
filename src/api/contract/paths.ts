// Every route of the product: method, path, who may call it, one line on what it does. Nothing here pulls in the
// schemas, so that the browser can build requests from this table alone; `routes.ts` adds the schemas.
// A path segment `:x` is one percent-encoded segment (`train%2Floss`), `*` is the rest of the path.
// Scopes: `open` needs no key; the others as design says. A key with `admin` has every scope, and `server` too if it is of
// the workspace that the server itself is set to: those routes tell of all workspaces.

import { ingestPaths } from "#protocol/facts.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type RouteScope = "open" | "ingest" | "read" | "control" | "admin" | "server";

export interface RoutePath {
  readonly method: Method;
  readonly path: string;
  readonly scope: RouteScope;
  readonly summary: string;
}

function route<M extends Method, P extends string>(method: M, path: P, scope: RouteScope, summary: string) {
  return { method, path, scope, summary } as const;
}

const v1 = "/api/v1";
const run = `${v1}/runs/:id` as const;

export const paths = {
  runs: route("GET", `${v1}/runs`, "read", "Runs: filtered, sorted, grouped, with chosen columns."),
  deleteRuns: route("POST", `${v1}/runs/delete`, "admin", "Delete the runs of a filter or a list of ids."),
  fields: route("GET", `${v1}/fields`, "read", "Every field runs can be filtered, sorted and shown by."),
  run: route("GET", run, "read", "One run, by id or alias."),
  patchRun: route("PATCH", run, "control", "Edit name, notes, tags and archived; what the client sent is kept."),
  joinRuns: route("POST", `${run}/join`, "control", "Join other runs to this one."),
  partRuns: route("POST", `${run}/part`, "control", "Part a joined run, or all runs joined to this one."),
  runHistory: route("POST", `${run}/history`, "control", "Import the faults and commands of an exported run."),
  deleteRun: route("DELETE", run, "admin", "Delete a run with its rows and blobs."),
  verdicts: route("GET", `${run}/verdicts`, "read", "What is wrong with the run or limits its speed, in sentences."),
  postMortem: route("GET", `${run}/post-mortem`, "read", "Why the run died, and what it left behind."),
  runAlerts: route("GET", `${run}/alerts`, "read", "Alerts that rules raised for the run."),
  gate: route("POST", `${run}/gate`, "read", "Whether rules would have fired on the run, for CI."),
  metrics: route(
    "GET",
    `${run}/metrics`,
    "read",
    "The run's metrics with first, last, extremes and non-finite counts.",
  ),
  metric: route("GET", `${run}/metrics/:key`, "read", "One metric as a bucketed series."),
  series: route("POST", `${v1}/series`, "read", "Series of several runs and metrics in one answer."),
  spans: route("GET", `${run}/spans`, "read", "Spans of a window, merged at a pixel resolution."),
  spanSummary: route("GET", `${run}/spans/summary`, "read", "Time by span name within a window."),
  spanFlame: route("GET", `${run}/spans/flame`, "read", "Time by nesting path within a window: a flame graph."),
  span: route("GET", `${run}/spans/by-id/:span`, "read", "One span with its attributes, marks and ancestors."),
  snapshots: route("GET", `${run}/snapshots`, "read", "The run's tensors."),
  tensor: route("GET", `${run}/snapshots/:tensor`, "read", "Statistics and histograms of one tensor over time."),
  tensorValues: route("GET", `${run}/snapshots/:tensor/values`, "read", "Values from a stored blob."),
  logs: route("GET", `${run}/logs`, "read", "Log lines by level, text, worker and time."),
  params: route("GET", `${run}/params`, "read", "Parameters with their origin and earlier values."),
  artifacts: route("GET", `${run}/artifacts`, "read", "Files the run named or stored."),
  artifact: route("GET", `${run}/artifacts/:name`, "read", "A stored file, as an attachment."),
  checkpoints: route("GET", `${run}/checkpoints`, "read", "Checkpoints, with the best one marked."),
  events: route("GET", `${run}/events`, "read", "Everything the run received, in order of arrival."),
  event: route("GET", `${run}/events/:event`, "read", "The whole text of one record, as an attachment."),
  gaps: route("GET", `${run}/gaps`, "read", "Sequence numbers received, repeated and missing, per worker."),
  runFaults: route("GET", `${run}/faults`, "read", "Input of this run that could not be understood."),
  graph: route("GET", `${run}/graph`, "read", "The pipeline as declared and as executed."),
  completeness: route("GET", `${run}/completeness`, "read", "Whether every record of the pipeline run arrived."),
  commands: route("GET", `${run}/commands`, "read", "Who accepts commands, and every command sent."),
  sendCommand: route("POST", `${run}/commands`, "control", "Send a command to the run's workers."),
  cancelCommand: route("DELETE", `${run}/commands/:command`, "control", "Cancel a command that is still queued."),
  exportRun: route("GET", `${run}/export`, "read", "The run as JSONL, CSV, Parquet or a Chrome trace."),
  exportRuns: route("GET", `${v1}/export`, "read", "The runs of a filter as JSONL, CSV or Parquet."),
  completenessAll: route("GET", `${v1}/completeness`, "read", "The completeness of every pipeline run and launch."),
  launches: route("GET", `${v1}/launches`, "read", "Launches (sweeps) with their completeness."),
  launch: route("GET", `${v1}/launches/:id/:attempt`, "read", "One launch: plan, axes and a cell for each run."),
  compare: route("GET", `${v1}/compare`, "read", "Params, environment, source, metrics and spans of several runs."),
  faults: route("GET", `${v1}/faults`, "read", "Faults of the whole workspace."),
  faultRaw: route("GET", `${v1}/faults/:fault/raw`, "read", "All raw bytes of one fault, as an attachment."),
  sql: route("POST", `${v1}/sql`, "server", "Read-only SQL over the documented tables."),
  sqlSchema: route("GET", `${v1}/sql/schema`, "server", "Tables, columns and functions SQL may use."),
  rules: route("GET", `${v1}/rules`, "read", "All rules, and which of them are armed."),
  putRule: route("PUT", `${v1}/rules/:rule`, "admin", "Create or change a rule; it is a dry run until it is armed."),
  deleteRule: route("DELETE", `${v1}/rules/:rule`, "admin", "Delete a rule that was created by the API."),
  armRule: route("POST", `${v1}/rules/:rule/arm`, "admin", "Let a rule act, or only report."),
  silenceRule: route("POST", `${v1}/rules/:rule/silence`, "control", "Keep a rule from firing for some time."),
  testRule: route("POST", `${v1}/rules/test`, "read", "Where a rule would have fired on the last runs."),
  alerts: route("GET", `${v1}/alerts`, "read", "Alerts that rules raised, newest first."),
  live: route("GET", `${v1}/live`, "read", "Live events, as server-sent events."),
  health: route("GET", `${v1}/health`, "read", "Rates, lag, connections, journal and store."),
  session: route("GET", `${v1}/session`, "open", "Who the caller is, and where clients reach this server."),
  login: route("POST", `${v1}/session`, "open", "Log a browser in with a key."),
  logout: route("DELETE", `${v1}/session`, "open", "Log a browser out."),
  keys: route("GET", `${v1}/keys`, "admin", "API keys, without the keys themselves."),
  createKey: route("POST", `${v1}/keys`, "admin", "Create an API key; it is shown only once."),
  deleteKey: route("DELETE", `${v1}/keys/:key`, "admin", "Revoke an API key."),
  retention: route("GET", `${v1}/retention`, "read", "How long runs are kept."),
  setRetention: route("PUT", `${v1}/retention`, "admin", "Change how long runs are kept."),
  views: route("GET", `${v1}/views`, "read", "Saved views: your own, and those shared in the workspace."),
  saveView: route("PUT", `${v1}/views/:page/:name`, "read", "Save a view; a shared one needs the scope control."),
  deleteView: route("DELETE", `${v1}/views/:page/:name`, "read", "Delete a saved view."),
  backup: route("GET", `${v1}/backup`, "server", "Everything in the data folder, as one archive with checksums."),
  setAside: route("GET", `${v1}/set-aside`, "server", "Accepted records that could not be applied, and why."),
  retryAside: route("POST", `${v1}/set-aside/retry`, "server", "Try again to apply records that were set aside."),
  audit: route("GET", `${v1}/audit`, "admin", "Edits, deletions, commands and keys: who did what."),

  ...ingestPaths,
  readBlob: route("GET", "/v1/traces/blobs/*", "read", "A stored tensor blob, as an attachment."),
  putArtifact: route("PUT", "/v1/runs/:run/artifacts/:name", "ingest", "Store a file of a run."),

  mcp: route("POST", "/mcp", "read", "Tools for agents, over the Model Context Protocol."),

  healthz: route("GET", "/healthz", "open", "The process is alive."),
  readyz: route(
    "GET",
    "/readyz",
    "open",
    "Whether the server is ready; with `drained=1`, answers once everything accepted is stored.",
  ),
  prometheus: route("GET", "/metrics", "open", "Counters and latencies for Prometheus."),
  openapi: route("GET", "/openapi.json", "open", "This table as an OpenAPI document."),
  reference: route("GET", "/reference", "open", "This table as a readable page."),
} as const satisfies Record<string, RoutePath>;

export type RouteName = keyof typeof paths;
