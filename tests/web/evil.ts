// Markup in every field a client can fill, in all three formats, and in what could not be understood.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestApp } from "../support/app.ts";
import { drained, failedPipeline, sendXtrack, toFrames } from "./sample.ts";

export const evil = "<img src=x onerror=alert(1)><script>alert(2)</script>";

const run_id = "evil-run";
const trace = join(import.meta.dirname, "../fixtures/semantiva/error_midway/trace.ser.jsonl");

export async function sendEvil(server: TestApp): Promise<void> {
  const startMs = Date.now();
  await sendXtrack(server, toFrames(xtrackEvents, startMs, evil));
  await server.post(`/v1/runs/${run_id}/traces`, cirronBatch(BigInt(startMs) * 1_000_000n));
  const pipeline = readFileSync(trace, "utf8")
    .replaceAll(failedPipeline, "evil-pipeline")
    .replaceAll(/FloatDivideOperation|Division by zero is not allowed|ValueError|"divisor"/g, (found) =>
      found.startsWith('"') ? JSON.stringify(evil) : evil,
    );
  await server.post("/v1/trace-stream?wait=1", pipeline, { "content-type": "application/x-ndjson" });
  // A file that is no record: its bytes are kept and shown.
  await server.post("/v1/trace-stream?wait=1", `{"record_type": "${evil}"}\n`, {
    "content-type": "application/x-ndjson",
  });
  await drained(server);
}

const xtrackEvents: readonly (readonly [string, object])[] = [
  [
    "run_start",
    {
      run_id: { id: run_id, exp_id: evil },
      name: evil,
      tags: { [evil]: evil },
      source: { git_branch: evil, git_commit: evil },
      env: { [evil]: evil, gpu_info: evil, hostname: evil },
    },
  ],
  ["param", { run_id, key: evil, value: evil }],
  ["metric", { run_id, key: evil, value: 1, step: 1, ctx: { phase: evil } }],
  ["metric", { run_id, key: evil, value: 2, step: 2, ctx: { phase: evil } }],
  ["log", { run_id, level: evil, msg: evil, logger: evil, fields: { [evil]: evil } }],
  ["status", { run_id, status: evil, message: evil, progress: { current: 1, total: 2, unit: evil } }],
  ["artifact", { run_id, path: evil, type: evil, name: evil, upload: "reference", meta: { [evil]: evil } }],
  ["checkpoint", { run_id, step: 1, path: evil, metrics: { [evil]: 1 }, is_best: true, best_key: evil }],
  ["run_end", { run_id, status: "failed", error: { type: evil, message: evil, traceback: evil } }],
];

/** Nanoseconds are beyond what a number holds, so they are put into the text. */
function cirronBatch(startNs: bigint): string {
  const id = (n: number) => n.toString(16).padStart(32, "0");
  const attrs = { [evil]: evil };
  const measured = { cpu_ns: null, gpu_ns: null, memory_peak_bytes: null, thread_id: 1, pid: 1, rank: 0, index: null };
  const times = { start_ns: "$start", end_ns: "$end" };
  const span = { ...measured, ...times, id: id(1), name: evil, parent_id: null, attrs, mark_ids: [id(2)] };
  const valued = { value_type: "str", value: evil, kind: "point" };
  const mark = { ...valued, id: id(2), span_id: id(1), name: evil, attrs, ts_ns: "$start" };
  const stats = { mean: 0, std: 1, min: -1, max: 1, norm: 1, histogram: { bins: [-1, 0, 1], counts: [3, 4] } };
  const tensor = { tensor_name: evil, shape: [7], dtype: evil, mode: "stats", stats, blob_uri: null };
  const snapshot = { ...tensor, id: id(3), span_id: id(1), ts_ns: "$end", attrs: {} };
  const head = { schema_version: 1, sdk_version: evil, batch_id: id(7), created_ns: "$start" };
  return JSON.stringify({ ...head, spans: [span], marks: [mark], snapshots: [snapshot] })
    .replaceAll('"$start"', String(startNs))
    .replaceAll('"$end"', String(startNs + 5_000_000n));
}
