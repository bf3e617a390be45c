// One frozen set of settings for a profiled process: options win over the environment, which wins over
// the defaults. Names and defaults of the variables are those of the Python SDK.

import { resolve } from "node:path";
import { copyOf, toNumberOption, toSignals, toTextOption } from "#emit/read-options.ts";
import type { SnapshotMode } from "#wire/cirron/encode.ts";
import type { Attributes } from "./attributes.ts";

export interface ProfileOptions {
  /** `false` makes every call of this module do nothing. */
  readonly enabled?: boolean;
  /** Folder of the spool and the snapshots. Environment: CIRRON_OUTPUT_DIR. Default `./.cirron`. */
  readonly path?: string;
  /** Environment: CIRRON_SNAPSHOTS. Default `stats`. */
  readonly snapshots?: SnapshotMode;
  /** Share of epoch ends that keep whole tensors in mode `sampled`. CIRRON_SAMPLE_RATE. Default 0.01. */
  readonly sampleRate?: number;
  /** Environment: CIRRON_FLUSH_INTERVAL, in seconds. Default 1,000 ms. */
  readonly flushIntervalMs?: number;
  /** Cap of the spool folder. Environment: CIRRON_SPOOL_MAX_BYTES. Default 1 GB. */
  readonly spoolBytesMax?: number;
  /** Base URL of the server. CIRRON_API_ENDPOINT, else TRIBUTARY_SERVER; http://127.0.0.1:7077 when only a key is given. */
  readonly endpoint?: string;
  /** Environment: CIRRON_API_KEY. */
  readonly apiKey?: string;
  /** Environment: CIRRON_INGEST_PATH. Default `/v1/traces`; `/v1/runs/<run>/traces` names the run. */
  readonly ingestPath?: string;
  /** Environment: CIRRON_RUN_ID, which also turns batches into stdout lines for the parent process. */
  readonly runId?: string;
  readonly workspaceId?: string;
  readonly pipelineId?: string;
  readonly deploymentId?: string;
  /** Environment: RANK. Default 0. */
  readonly rank?: number;
  /** Further attributes of the `cirron.session` span. */
  readonly attrs?: Attributes;
  /** Signals that write the spool before they end the process. Default `["SIGTERM"]`. */
  readonly signals?: readonly NodeJS.Signals[];
}

type Delivery =
  | { readonly kind: "spool" }
  | { readonly kind: "stdout" }
  | { readonly kind: "http"; readonly url: string; readonly apiKey: string };

export interface Settings {
  readonly spoolPath: string;
  readonly snapshotsPath: string;
  readonly sentPath: string;
  readonly snapshots: SnapshotMode;
  readonly sampleRate: number;
  readonly flushIntervalMs: number;
  readonly spoolBytesMax: number;
  readonly rank: number;
  readonly delivery: Delivery;
  readonly sessionAttrs: Attributes;
  readonly signals: readonly NodeJS.Signals[];
}

type Env = Readonly<Record<string, string | undefined>>;

export function readSettings(options: ProfileOptions, env: Env = process.env): Settings {
  const path = resolve(toTextOption(options.path) ?? nonEmpty(env["CIRRON_OUTPUT_DIR"]) ?? "./.cirron");
  const rank = whole(options.rank ?? numeric(env["RANK"]), 0);
  const settings: Settings = {
    spoolPath: `${path}/spool`,
    snapshotsPath: `${path}/snapshots`,
    sentPath: `${path}/sent.txt`,
    snapshots: toMode(options.snapshots) ?? toMode(env["CIRRON_SNAPSHOTS"]) ?? "stats",
    sampleRate: toNumberOption(options.sampleRate) ?? numeric(env["CIRRON_SAMPLE_RATE"]) ?? 0.01,
    flushIntervalMs: Math.max(
      10,
      toNumberOption(options.flushIntervalMs) ?? (numeric(env["CIRRON_FLUSH_INTERVAL"]) ?? 1) * 1000,
    ),
    spoolBytesMax: whole(options.spoolBytesMax ?? numeric(env["CIRRON_SPOOL_MAX_BYTES"]), 1_000_000_000),
    rank,
    delivery: toDelivery(options, env),
    sessionAttrs: toSessionAttrs(options, env, rank),
    signals: toSignals(options.signals),
  };
  return Object.freeze(settings);
}

function toDelivery(options: ProfileOptions, env: Env): Delivery {
  // Inside a capturing parent there is nothing else to do: its lines are the transport.
  if (nonEmpty(env["CIRRON_RUN_ID"]) !== undefined) return { kind: "stdout" };
  const apiKey = toTextOption(options.apiKey) ?? nonEmpty(env["CIRRON_API_KEY"]) ?? "";
  const named =
    toTextOption(options.endpoint) ?? nonEmpty(env["CIRRON_API_ENDPOINT"]) ?? nonEmpty(env["TRIBUTARY_SERVER"]);
  if (apiKey === "" && named === undefined) return { kind: "spool" };
  const ingestPath = toTextOption(options.ingestPath) ?? nonEmpty(env["CIRRON_INGEST_PATH"]) ?? "/v1/traces";
  const base = (named ?? "http://127.0.0.1:7077").replace(/\/+$/, "");
  return { kind: "http", url: `${base}/${ingestPath.replace(/^\/+/, "")}`, apiKey };
}

function toSessionAttrs(options: ProfileOptions, env: Env, rank: number): Attributes {
  return {
    pid: process.pid,
    rank,
    framework: "node",
    device: "cpu",
    mixed_precision: false,
    "cirron.run_id": toTextOption(options.runId) ?? nonEmpty(env["CIRRON_RUN_ID"]),
    "cirron.workspace_id": toTextOption(options.workspaceId) ?? nonEmpty(env["CIRRON_WORKSPACE_ID"]),
    "cirron.pipeline_id": toTextOption(options.pipelineId) ?? nonEmpty(env["CIRRON_PIPELINE_ID"]),
    "cirron.deployment_id": toTextOption(options.deploymentId) ?? nonEmpty(env["CIRRON_DEPLOYMENT_ID"]),
    ...copyOf(options.attrs),
  };
}

function toMode(text: string | undefined): SnapshotMode | undefined {
  return text === "stats" || text === "sampled" || text === "full" ? text : undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

function numeric(text: string | undefined): number | undefined {
  const value = Number(nonEmpty(text) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

function whole(value: number | undefined, fallback: number): number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : fallback;
}
