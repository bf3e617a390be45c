// How long the API takes for typical queries, over HTTP against a real server with the embedded engine and
// stored data of the sizes that the figures name.
//
// Usage: node bench/query.ts [--small] [--save] [--prof DIR]

import type { Socket } from "node:net";
import type { Store } from "#store/store.ts";
import { fillStore } from "./support/fill-store.ts";
import { inFolder } from "./support/folder.ts";
import { fillLaunch, fillManyRuns, fillRuns, type QuerySizes } from "./support/query-data.ts";
import { type BenchServer, describeMachine, quantile, startServer, whole } from "./support/server.ts";
import { isAsked, nodeFlags, savePage } from "./support/words.ts";
import { openSocket, toEvent, toFrame } from "./support/xtrack-socket.ts";

const factor = isAsked("--small") ? 0.1 : 1;
const sizes: QuerySizes = {
  runs: 10_000 * factor,
  fields: 200,
  seriesPoints: 1_000_000 * factor,
  overlayRuns: 100,
  overlayPoints: 10_000 * factor,
  spans: 1_000_000 * factor,
  launchRuns: 100_000 * factor,
};
/** A table as long as the page promises to show, with fewer fields: what is not asked for is not read. */
const manyRuns = { runs: 100_000 * factor, fields: 10 };
const rounds = 9;

/** A row of the page: one request, which may be cold, and then repeated ones. */
async function time(
  name: string,
  aimMs: number | null,
  ask: () => Promise<number>,
  prepare: () => Promise<void> = async () => {},
): Promise<string> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round <= rounds; round++) {
    await prepare();
    const began = performance.now();
    bytes = await ask();
    times.push(performance.now() - began);
  }
  const [firstMs = 0, ...rest] = times;
  const [median, best, first] = [quantile(rest, 0.5), Math.min(...rest), firstMs].map((ms) => ms.toFixed(0));
  console.error(`${name}: ${first} first, ${median} then`);
  return `| ${name} | ${aimMs ?? ""} | ${median} | ${best} | ${first} | ${whole(bytes / 1024)} |`;
}

async function ask(server: BenchServer, path: string, body?: unknown): Promise<number> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}/api/v1${path}`, init);
  const bytes = (await answer.arrayBuffer()).byteLength;
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return bytes;
}

const filter = encodeURIComponent("status:completed AND params.param_3<500 AND metrics.metric_7.last<50");
const filteredPage = `/runs?filter=${filter}&sort=-metrics.metric_9.last&columns=params.param_3&columns=metrics.metric_7.last`;

async function measureManyRuns(server: BenchServer): Promise<string[]> {
  const runs = whole(manyRuns.runs);
  const metric = "metrics.metric_7.last";
  const lines = [
    await time(`table of ${runs} runs, newest first`, null, () => ask(server, "/runs")),
    await time(`table of ${runs} runs, filtered and sorted`, null, () => ask(server, filteredPage)),
    await time(`table of ${runs} runs, the page after 50 others`, null, await toLaterPage(server)),
    await time(`table of ${runs} runs, grouped by a param`, null, () =>
      ask(server, `/runs?group=params.param_5&columns=${metric}`),
    ),
  ];
  const socket = await openSocket(server.xtrackPort);
  let seq = 0;
  lines.push(
    await time(`table of ${runs} runs, sorted by a metric, after a new point of one run`, null, async () => {
      const meta = `"m":{"seq":${++seq},"ts":${Date.now() * 1000},"wid":"w0"}`;
      send(socket, `{"v":1,"t":"metric",${meta},"p":{"run_id":"run-7","key":"metric_7","value":${seq},"step":${seq}}}`);
      await server.drained();
      return ask(server, `/runs?sort=-${metric}&columns=${metric}`);
    }),
  );
  socket.destroy();
  return lines;
}

async function toLaterPage(server: BenchServer): Promise<() => Promise<number>> {
  let cursor = "";
  for (let page = 0; page < 50; page++) {
    const answer = await fetch(`${server.url}/api/v1/runs?sort=name&cursor=${cursor}`.replace(/&cursor=$/, ""));
    cursor = ((await answer.json()) as { next: string }).next;
  }
  return () => ask(server, `/runs?sort=name&cursor=${cursor}`);
}

async function measureRuns(server: BenchServer): Promise<string[]> {
  const overlay = {
    runs: Array.from({ length: sizes.overlayRuns }, (_, at) => `overlay-${at}`),
    keys: ["train/loss"],
    buckets: 1000,
  };
  const { from, span } = await extentOf(server);
  const window = (share: number, at: number) =>
    `/runs/trace/spans?width=1500&from_ns=${from + BigInt(Math.floor(span * at))}&to_ns=${from + BigInt(Math.floor(span * (at + share)))}`;
  return [
    await time(`page of ${whole(sizes.runs)} runs × ${sizes.fields} params and metrics, filtered and sorted`, 150, () =>
      ask(server, filteredPage),
    ),
    await time("the same table, newest first, no filter", null, () => ask(server, "/runs")),
    await time(`series of ${whole(sizes.seriesPoints)} points in 1,000 buckets`, 60, () =>
      ask(server, "/runs/long/metrics/train%2Floss?buckets=1000"),
    ),
    await time(
      `${sizes.overlayRuns} runs overlaid, ${whole(sizes.overlayPoints)} points each, 1,000 buckets`,
      500,
      () => ask(server, "/series", overlay),
    ),
    await time(`timeline of ${whole(sizes.spans)} spans, the whole run`, 150, () => ask(server, window(1, 0))),
    await time("timeline, a hundredth of the run", 150, () => ask(server, window(0.01, 0.4))),
    await time("timeline, a ten-thousandth of the run", 150, () => ask(server, window(0.0001, 0.7))),
    await time("time per span name, the whole run", null, () => ask(server, "/runs/trace/spans/summary")),
  ];
}

/** The same queries right after their run received something, as a page makes them while a run is live. */
async function measureGrowth(server: BenchServer): Promise<string[]> {
  let sent = 0;
  const addSpans = async (): Promise<void> => {
    const body = JSON.stringify(spanBatch(sent++));
    const headers = { "content-type": "application/json" };
    await fetch(`${server.url}/v1/runs/trace/traces`, { method: "POST", headers, body });
    await server.drained();
  };
  const addPoints = async (): Promise<void> => {
    const frames = Array.from({ length: 20 }, () => pointFrame(sizes.seriesPoints + sent++));
    const headers = { "content-type": "application/octet-stream" };
    await fetch(`${server.url}/v1/xtrack?wait=1`, { method: "POST", headers, body: Buffer.concat(frames) });
  };
  return [
    await time(
      "timeline of that run, after 50 more spans",
      null,
      () => ask(server, "/runs/trace/spans?width=1500"),
      addSpans,
    ),
    await time(
      "series of that many points, after 20 more",
      null,
      () => ask(server, "/runs/long/metrics/train%2Floss"),
      addPoints,
    ),
  ];
}

/** A step and what it is made of, below a session that has not arrived yet. */
function spanBatch(number: number): unknown {
  const id = (at: number) => (number * 50 + at + 1).toString(16).padStart(32, "ab");
  const startNs = 1794710421000000000 + number * 1_000_000;
  const spans = Array.from({ length: 50 }, (_, at) => ({
    id: id(at),
    parent_id: at === 0 ? "f".repeat(32) : id(0),
    name: at === 0 ? "step" : "forward",
    index: null,
    start_ns: startNs + at * 10_000,
    end_ns: startNs + (at === 0 ? 900_000 : at * 10_000 + 9_000),
    cpu_ns: null,
    gpu_ns: null,
    memory_peak_bytes: null,
    thread_id: 7,
    pid: 100,
    rank: 0,
    attrs: {},
    mark_ids: [],
  }));
  return { batch_id: `growth-${number}`, schema_version: 1, spans, marks: [], snapshots: [] };
}

function pointFrame(step: number): Buffer {
  const ts = 1794710500000000 + step;
  const payload = { run_id: "long", key: "train/loss", value: 1 / step, step, ctx: { phase: "train" } };
  return toEvent("metric", { seq: step + 2, ts, wid: "w0" }, payload);
}

async function extentOf(server: BenchServer): Promise<{ from: bigint; span: number }> {
  const began = performance.now();
  const answer = (await (await fetch(`${server.url}/api/v1/runs/trace/spans?width=10`)).json()) as {
    extent: { from_ns: string; to_ns: string };
  };
  coldMs = performance.now() - began;
  const from = BigInt(answer.extent.from_ns);
  return { from, span: Number(BigInt(answer.extent.to_ns) - from) };
}

/** The first look at a run's timeline reads and lays out all its spans; later windows find the layout. */
let coldMs = 0;

/** From the send of an event to its arrival at a subscriber of its run. */
async function measureLive(server: BenchServer): Promise<number[]> {
  const socket = await openSocket(server.xtrackPort);
  send(socket, `{"v":1,"t":"run_start","m":{"seq":1,"ts":${Date.now() * 1000}},"p":{"run_id":{"id":"live"}}}`);
  await server.drained();
  const stop = new AbortController();
  const stream = await fetch(`${server.url}/api/v1/live?run=live`, { signal: stop.signal });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  const delays: number[] = [];
  const decoder = new TextDecoder();
  for (let seq = 2; seq < 202; seq++) {
    const began = performance.now();
    send(
      socket,
      `{"v":1,"t":"metric","m":{"seq":${seq},"ts":${Date.now() * 1000}},"p":{"run_id":"live","key":"loss","value":${seq},"step":${seq}}}`,
    );
    for (let text = ""; !text.includes(`"step":["${seq}"]`); ) {
      const { value, done } = await reader.read();
      if (done) throw new Error("the live stream ended");
      text += decoder.decode(value);
    }
    delays.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  stop.abort();
  socket.destroy();
  return delays;
}

function send(socket: Socket, json: string): void {
  socket.write(toFrame(json));
}

function withFolder<T>(fill: (store: Store) => Promise<void>, work: (server: BenchServer) => Promise<T>): Promise<T> {
  return inFolder(async (dataDir) => {
    await fillStore(dataDir, fill);
    const server = await startServer({ dataDir, nodeFlags });
    try {
      return await work(server);
    } finally {
      await server.close();
    }
  });
}

const launchLines = await withFolder(
  (store) => fillLaunch(store, sizes.launchRuns),
  async (server) => [
    await time(`one launch of ${whole(sizes.launchRuns)} runs, every cell`, null, () =>
      ask(server, "/launches/sweep/1"),
    ),
    await time("the list of launches with their completeness", null, () => ask(server, "/launches")),
  ],
);
const manyLines = await withFolder((store) => fillManyRuns(store, manyRuns), measureManyRuns);
const [lines, delays] = await withFolder(
  (store) => fillRuns(store, sizes),
  async (server) =>
    [[...(await measureRuns(server)), ...(await measureGrowth(server))], await measureLive(server)] as const,
);

const page = `# Queries

\`node bench/query.ts${factor < 1 ? " --small" : ""}\` on ${describeMachine()}. Client, server and engine share these cores.
Milliseconds over HTTP until the last byte: the median and the best of ${rounds}, and the first, which found nothing prepared.

| question | aim | median | best | first | KiB |
| --- | ---: | ---: | ---: | ---: | ---: |
${[...lines, ...manyLines, ...launchLines].join("\n")}

The very first look at the timeline of ${whole(sizes.spans)} spans, which reads and lays out all of them: ${coldMs.toFixed(0)} ms.

An event from its sender to a subscriber of its run, of ${delays.length} (aim: p95 under 50 ms): p50 ${quantile(delays, 0.5).toFixed(1)} ms, p95 ${quantile(delays, 0.95).toFixed(1)} ms, p99 ${quantile(delays, 0.99).toFixed(1)} ms.
`;
await savePage("query", page);
