// Small requests of many senders: Cirron batches of 1, 5 and 20 spans of 1,000 processes over 32 connections, as the SDK
// sends them (its headers, no blanks, gzip from 1,024 bytes on), with and without keep-alive and at half of what was reached; then
// Semantiva lines, one and a thousand a request. A real server with its embedded engine; an answer is given when the
// bytes are synced.
//
// A server runs for days, so Cirron rows and those of a thousand lines are counted once the runtime has compiled what it will
// compile and memory has grown; one row of each shows the young process beside them.
//
// Usage: node bench/small.ts [batches, 20000] [--save] [--prof DIR] [--only WORDS]
//
// The last rows are Node alone: what it takes for the same requests with nothing but inflating and parsing them.
//
// `--only` runs the row of this name, or those whose names contain it: `--only "Cirron, 5 a batch"`, `--only Semantiva`.

import { randomBytes } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type RawLoad, sendRaw, toRequest } from "./support/raw-http.ts";
import { describeMachine, measure, quantile, quantiles, startBare, startServer, whole } from "./support/server.ts";
import { nodeFlags, numbers, option, savePage } from "./support/words.ts";

const [batches = 20_000] = numbers;
const only = option("--only") ?? "";
const processes = 1000;
const connections = 32;
/** Sent before the clock starts: the runtime goes on compiling for tens of thousands of requests. */
const steadyAfter = 40_000;
const youngAfter = 5000;
/** How many of the warm-up requests the client holds in memory at a time. */
const warmSlice = 5000;
const firstNs = 1_794_710_577_348_002_561n;

const hex = (): string => randomBytes(16).toString("hex");
const sessions = Array.from({ length: processes }, hex);

/** The size in bytes from which the SDK compresses. */
const gzipBytesMin = 1024;

/** The next batch of a process: its spans stand under its session. */
function toBatchRequest(at: number, spans: number, isFresh: boolean): Buffer {
  const of = at % processes;
  const pid = 1000 + of;
  const rows = Array.from({ length: spans }, (_, index) => {
    const start = firstNs + BigInt(at) * 1_000_000n + BigInt(index) * 1000n;
    return `{"id":"${hex()}","name":"forward","parent_id":"${sessions[of]}","index":null,"start_ns":${start},"end_ns":${start + 1_908_697n},"cpu_ns":null,"gpu_ns":1847551,"memory_peak_bytes":null,"thread_id":140273923232064,"pid":${pid},"rank":0,"attrs":{"mode":"train"},"mark_ids":[]}`;
  });
  const batchId = hex();
  const head = `"schema_version":1,"sdk_version":"0.0.0","batch_id":"${batchId}","created_ns":${firstNs}`;
  const body = Buffer.from(`{${head},"spans":[${rows.join(",")}],"marks":[],"snapshots":[]}`);
  const isLarge = body.length >= gzipBytesMin;
  const headers = [
    ...["User-Agent: python-requests/2.32.3", "Accept-Encoding: gzip, deflate", "Accept: */*"],
    ...["Authorization: Bearer bench", "Content-Type: application/json"],
    ...["X-Cirron-SDK-Version: 0.0.0", `X-Cirron-Batch-Id: ${batchId}`],
    ...(isLarge ? ["Content-Encoding: gzip"] : []),
  ];
  return toRequest("/v1/traces", isLarge ? gzipSync(body) : body, headers, isFresh);
}

function cirronRequests(spans: number, count: number, isFresh = false): Buffer[] {
  return Array.from({ length: count }, (_, at) => toBatchRequest(at, spans, isFresh));
}

const runIdOf = (line: string): string => /"run_id": "([^"]*)"/.exec(line)?.[1] ?? "";
/** The lines of each run of a real sweep: its start, its nodes, its end; those of the launch are left out. */
const sweep = readFileSync(new URL("../examples/data/semantiva/sweep.trace.jsonl", import.meta.url), "utf8");
const sweepRuns = [...Map.groupBy(sweep.split("\n"), runIdOf)].filter(([runId]) => runId.startsWith("run-"));

/** Lines of runs one after the other, each run under an id of its own. */
function* semantivaLines(): Generator<string> {
  for (let at = 0; ; at++) {
    const [runId, lines] = sweepRuns[at % sweepRuns.length] as (typeof sweepRuns)[number];
    const fresh = `run-${hex()}`;
    for (const line of lines) yield line.replaceAll(runId, fresh);
  }
}

function semantivaRequests(linesEach: number, count: number): Buffer[] {
  const lines = semantivaLines();
  const next = (): string => lines.next().value as string;
  return Array.from({ length: count }, () => {
    const body = Buffer.from(Array.from({ length: linesEach }, next).join("\n"));
    return toRequest("/v1/trace-stream", body, ["content-type: application/x-ndjson"]);
  });
}

/** How long the disk takes to sync a small append. */
function syncTimes(folder: string): number[] {
  const file = openSync(join(folder, "sync-probe"), "w");
  const block = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, block);
    const began = performance.now();
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return times;
}

interface Row {
  readonly name: string;
  readonly records: number;
  /** Made when the row's turn comes, because the requests of all rows together would fill the client's memory. */
  toLoad(): RawLoad;
  toWarm(count: number): Buffer[];
  readonly warmRequests: number;
}

/** Sends as fast as answers come back, in slices. */
async function warmUp(
  port: number,
  row: Pick<Row, "toWarm" | "warmRequests">,
  load: Omit<RawLoad, "requests">,
): Promise<void> {
  for (let left = row.warmRequests; left > 0; left -= warmSlice) {
    const requests = row.toWarm(Math.min(left, warmSlice));
    await sendRaw(port, { connections: load.connections, isFresh: load.isFresh ?? false, requests });
  }
}

async function run(row: Row): Promise<{ line: string; perSecond: number }> {
  const load = row.toLoad();
  const server = await startServer({ nodeFlags });
  const port = Number(new URL(server.url).port);
  await warmUp(port, row, load);
  await server.drained();
  const measured = await measure(server, () => sendRaw(port, load));
  const { result, acceptedS, queryableS, engine, clientMs } = measured;
  await server.close();
  const perSecond = result.sent / acceptedS;
  const us = (ms: number): string => whole((ms * 1000) / result.sent);
  const latency = quantiles(result.latenciesMs, [0.5, 0.99], 1);
  const line = `| ${row.name} | ${whole(result.sent)} | ${result.refused} | ${whole(perSecond)} | ${whole(((result.sent - result.refused) * row.records) / queryableS)} | ${us(measured.server.cpuMs)} | ${us(engine.cpuMs)} | ${us(clientMs)} | ${latency} | ${measured.server.peakMiB} · ${engine.peakMiB} |`;
  console.log(line);
  return { line, perSecond };
}

/** Batches of five spans a second, once they were measured; until then what half of a core should take. */
let reached = 2000;
const cirron = (spans: number): Row => ({
  name: `Cirron, ${spans} a batch`,
  records: spans,
  toLoad: () => ({ requests: cirronRequests(spans, batches), connections }),
  toWarm: (count) => cirronRequests(spans, count),
  warmRequests: steadyAfter,
});
const rows: readonly Row[] = [
  ...[1, 5, 20].map(cirron),
  { ...cirron(5), name: "Cirron, 5 a batch, young process", warmRequests: youngAfter },
  {
    ...cirron(5),
    name: "Cirron, 5 a batch, no keep-alive",
    toLoad: () => ({ requests: cirronRequests(5, batches / 2, true), connections, isFresh: true }),
    toWarm: (count) => cirronRequests(5, count, true),
  },
  {
    ...cirron(5),
    name: "Cirron, 5 a batch, at half of that rate",
    toLoad: () => ({ requests: cirronRequests(5, batches / 2), connections, perSecond: reached / 2 }),
  },
  {
    name: "Semantiva, 1 line a request",
    records: 1,
    toLoad: () => ({ requests: semantivaRequests(1, batches), connections }),
    toWarm: (count) => semantivaRequests(1, count),
    warmRequests: youngAfter,
  },
  {
    name: "Semantiva, 1,000 lines a request",
    records: 1000,
    toLoad: () => ({ requests: semantivaRequests(1000, 200), connections: 4 }),
    toWarm: (count) => semantivaRequests(1000, count),
    warmRequests: 100,
  },
  {
    name: "Semantiva, 1,000 lines a request, young process",
    records: 1000,
    toLoad: () => ({ requests: semantivaRequests(1000, 100), connections: 4 }),
    toWarm: (count) => semantivaRequests(10, count),
    warmRequests: 500,
  },
];

/** The same requests to Node alone, which inflates and parses them and keeps nothing. */
async function runBare(spans: number): Promise<string> {
  const bare = await startBare("http");
  const load = { requests: cirronRequests(spans, batches), connections };
  await warmUp(bare.port, cirron(spans), load);
  const before = await bare.usage();
  const began = performance.now();
  const { sent, refused, latenciesMs } = await sendRaw(bare.port, load);
  const perSecond = sent / ((performance.now() - began) / 1000);
  const after = await bare.usage();
  await bare.close();
  const latency = quantiles(latenciesMs, [0.5, 0.99], 1);
  return `| Node alone, ${spans} a batch | ${whole(sent)} | ${refused} | ${whole(perSecond)} | | ${whole(((after.cpuMs - before.cpuMs) * 1000) / sent)} | | | ${latency} | ${after.peakMiB} |`;
}

const lines: string[] = [];
const named = rows.filter(({ name }) => name === only);
for (const row of named.length > 0 ? named : rows.filter(({ name }) => name.includes(only))) {
  const { line, perSecond } = await run(row);
  lines.push(line);
  if (row.name === "Cirron, 5 a batch") reached = perSecond;
}
if (only === "" || only === "Node") for (const spans of [1, 5, 20]) lines.push(await runBare(spans));
const probed = await startServer();
const syncs = syncTimes(probed.dataDir);
await probed.close();

const page = `# Small requests

\`node bench/small.ts ${batches}\` on ${describeMachine()}. ${whole(processes)} processes over ${connections} connections (4 for the requests of 1,000 lines); client, server and engine share these cores. Counted once the server has had ${whole(steadyAfter)} requests; young processes have had ${whole(youngAfter)}, as those of single Semantiva lines. Those of 1,000 lines are counted after 100 such requests; young ones have had 500 of ten lines. The disk synced an append of 4 KiB in ${quantile(syncs, 0.5).toFixed(1)} ms (p99 ${quantile(syncs, 0.99).toFixed(1)}) when nothing else ran.

| | requests | refused | requests/s durable | records/s queryable | server µs a request | engine µs | client µs | latency ms: p50 · p99 | peak MiB: server · engine |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${lines.join("\n")}
`;
await savePage("small", page);
