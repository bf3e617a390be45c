// The messages of XTrack protocol version 1: what each event type carries, and the words the document lists.
// Words outside the lists are kept as sent and flagged; they are no errors.

import type { JsonObject, JsonValue } from "#base/json/value.ts";

export const protocolVersion = 1;

export const words = {
  end: ["completed", "failed", "killed"],
  phase: ["train", "val", "test"],
  agg: ["mean", "sum", "last"],
  artifact: [
    "model",
    "checkpoint",
    "weights",
    "config",
    "plot",
    "figure",
    "image",
    "data",
    "predictions",
    "embeddings",
    "log",
    "profile",
    "other",
  ],
  upload: ["reference", "inline", "stream"],
  status: [
    "initializing",
    "running",
    "training",
    "evaluating",
    "checkpointing",
    "paused",
    "resuming",
    "finishing",
    "completed",
    "failed",
    "killed",
  ],
  level: ["debug", "info", "warning", "error"],
  command: ["pause", "resume", "stop", "checkpoint_now", "update_params", "adjust_lr", "custom"],
  ack: ["ok", "error"],
} as const;

/** `m`: `ts` is microseconds since the epoch by the worker's own clock. */
export interface EventMeta {
  readonly seq: number | bigint;
  readonly ts: number | bigint;
  readonly wid?: string;
}

interface RunIdentity {
  readonly id?: string;
  readonly exp_id?: string | null;
  readonly parent_id?: string | null;
}

interface MetricContext {
  readonly phase?: string;
  readonly batch_size?: number;
  readonly dataset_size?: number;
  readonly agg?: string;
  readonly [field: string]: JsonValue | undefined;
}

interface RunError {
  readonly type?: string;
  readonly message?: string;
  readonly traceback?: string;
}

interface Progress {
  readonly cur: number;
  readonly total?: number | null;
  readonly unit?: string;
}

export interface Payloads {
  run_start: {
    readonly run_id: string | RunIdentity;
    readonly name?: string | null;
    readonly tags?: JsonObject;
    readonly source?: JsonObject;
    readonly env?: JsonObject;
    /** Tributary's own: what this connection is ready to read, see docs/protocols/xtrack.md. */
    readonly accepts?: readonly ("ack" | "command")[];
  };
  run_end: {
    readonly run_id: string;
    readonly status: string;
    readonly error?: RunError;
    readonly final_metrics?: JsonObject;
    readonly duration_ms?: number;
  };
  param: {
    readonly run_id: string;
    readonly key: string;
    readonly value: JsonValue;
    readonly nested_key?: readonly string[];
  };
  metric: {
    readonly run_id: string;
    readonly key: string;
    readonly value: JsonValue;
    readonly step?: number | bigint;
    readonly epoch?: number | bigint;
    readonly ctx?: MetricContext;
  };
  metric_batch: {
    readonly run_id: string;
    readonly metrics: { readonly [key: string]: JsonValue };
    readonly step?: number | bigint;
    readonly epoch?: number | bigint;
    readonly ctx?: MetricContext;
  };
  artifact: {
    readonly run_id: string;
    readonly path: string;
    readonly type?: string;
    readonly name?: string;
    readonly meta?: JsonObject;
    readonly size?: number | bigint;
    readonly checksum?: string;
    readonly upload?: string;
  };
  checkpoint: {
    readonly run_id: string;
    readonly step: number | bigint;
    readonly path: string;
    readonly epoch?: number | bigint;
    readonly metrics?: JsonObject;
    readonly is_best?: boolean;
    readonly best_key?: string;
    readonly meta?: JsonObject;
  };
  status: {
    readonly run_id: string;
    readonly status: string;
    readonly msg?: string;
    readonly progress?: Progress;
  };
  log: {
    readonly run_id: string;
    readonly level: string;
    readonly msg: string;
    readonly logger?: string;
    readonly step?: number | bigint;
    readonly fields?: JsonObject;
  };
  command: {
    readonly cmd_id: string;
    readonly type: string;
    readonly payload?: JsonObject;
  };
  /** The collector's acks name run and worker; a worker confirms a command with its `cmd_id`. */
  ack: {
    readonly seq: number | bigint;
    readonly status: "ok" | "error";
    readonly error?: string | null;
    readonly run_id?: string;
    readonly wid?: string;
    readonly cmd_id?: string;
  };
  auth: { readonly key: string };
}

export type MessageType = keyof Payloads;
