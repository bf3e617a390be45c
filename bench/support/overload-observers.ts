// How other clients experience an overloaded server, measured in a process that has little to do: a quiet sender of spans, a
// worker that waits for acks, an occasional sender of batches as large as the noisy ones', a monitor and a person. Usage: HTTP
// port, XTrack port, seconds; prints a JSON object of the type Observed at the end.

import { randomBytes } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createCirronLoad } from "./cirron-load.ts";
import { Lane, toRequest } from "./raw-http.ts";
import { openSocket, toEvent } from "./xtrack-socket.ts";

export interface Seen {
  readonly acceptedMs: number[];
  readonly refusedMs: number[];
  /** Answers with 5xx, and connections that ended before an answer. */
  failed: number;
}

const names = ["span", "event", "batch", "health", "page", "runs"] as const;
export interface Observed {
  readonly seen: Readonly<Record<(typeof names)[number], Seen>>;
  readonly loopP99Ms: number;
}

const [port = 0, xtrackPort = 0, seconds = 0] = process.argv.slice(2).map(Number);
const everyMs = 250;
const untilMs = performance.now() + seconds * 1000;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const hex = (): string => randomBytes(16).toString("hex");
const jsonHeaders = ["content-type: application/json", "authorization: Bearer bench"];
const packed = [...jsonHeaders, "content-encoding: gzip"];

function toSpan(): Buffer {
  const row = `{"id":"${hex()}","name":"quiet","parent_id":null,"index":0,"start_ns":1,"end_ns":2,"thread_id":1,"pid":1,"rank":0,"attrs":{},"mark_ids":[]}`;
  const head = `"schema_version":1,"sdk_version":"0.0.0","batch_id":"${hex()}","created_ns":1`;
  return toRequest("/v1/traces", Buffer.from(`{${head},"spans":[${row}],"marks":[],"snapshots":[]}`), jsonHeaders);
}

const { bodies } = createCirronLoad(100_000);
const batches = bodies.map((body) => toRequest("/v1/traces", body, packed));
const toGet = (path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: keep-alive\r\n\r\n`);

const createSeen = (): Seen => ({ acceptedMs: [], refusedMs: [], failed: 0 });

async function look(next: () => Buffer): Promise<Seen> {
  const seen = createSeen();
  let lane = await Lane.open(port);
  while (performance.now() < untilMs) {
    const beganMs = performance.now();
    const status = await lane.ask(next());
    const tookMs = performance.now() - beganMs;
    if (status === 0 || status >= 500) seen.failed++;
    else (status < 300 ? seen.acceptedMs : seen.refusedMs).push(tookMs);
    if (!lane.isOpen) lane = await Lane.open(port);
    await sleep(everyMs);
  }
  lane.close();
  return seen;
}

/** Sends an event and waits for its ack, again and again. An event without an ack after ten seconds counts as failed. */
async function work(): Promise<Seen> {
  const seen = createSeen();
  const socket = await openSocket(xtrackPort);
  let onAck = (): void => undefined;
  socket.on("data", () => onAck());
  const run = `quiet-${hex()}`;
  socket.write(toEvent("run_start", { seq: 1, ts: Date.now() * 1000, wid: "w" }, { run_id: run, accepts: ["ack"] }));
  for (let seq = 2; performance.now() < untilMs; seq++) {
    await sleep(everyMs);
    const beganMs = performance.now();
    const acked = new Promise<"acked">((resolve) => {
      onAck = () => resolve("acked");
    });
    const metric = { metrics: { loss: { value: seq } }, step: seq };
    socket.write(toEvent("metric", { seq, ts: Date.now() * 1000, wid: "w" }, metric));
    if ((await Promise.race([acked, sleep(10_000)])) === "acked") seen.acceptedMs.push(performance.now() - beganMs);
    else seen.failed++;
  }
  socket.destroy();
  return seen;
}

let batch = 0;
const [span, event, large, health, page, runs] = await Promise.all([
  look(toSpan),
  work(),
  look(() => batches[batch++ % batches.length] as Buffer),
  look(() => toGet("/healthz")),
  look(() => toGet("/")),
  look(() => toGet("/api/v1/runs?limit=20")),
]);
const observed: Observed = {
  seen: { span, event, batch: large, health, page, runs },
  loopP99Ms: delay.percentile(99) / 1e6,
};
// A pipe takes little at once, and what it has not taken would go with the process.
process.stdout.write(JSON.stringify(observed), () => process.exit(0));
