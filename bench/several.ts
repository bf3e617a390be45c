// Two collectors on one store and one bus: what the bus costs, how fast things cross it, and what a run costs to read
// that both have written. Real servers, a real NATS server, and one engine that both reach by URL.
//
// Usage: node bench/several.ts [--save]

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readEvents } from "../src/cli/server-events.ts";
import { startNats, startSharedStore } from "../tests/support/several.ts";
import { type BenchServer, describeMachine, quantile, startServer, whole } from "./support/server.ts";
import { createXtrackLoad } from "./support/xtrack-load.ts";

const events = 200_000;
const rounds = 15;
const nats = await startNats();
const shared = await startSharedStore();
const store = { TRIBUTARY_STORE_URL: shared.url, TRIBUTARY_STORE_GUEST_USER: "guest" };
const bus = { ...store, TRIBUTARY_BUS_URL: nats.url, TRIBUTARY_LOG_LEVEL: "error" };

/** Sends a run's events over four connections; gives events/s until queryable and the collector's µs an event. */
async function ingest(server: BenchServer, run: string): Promise<{ rate: number; cpuUs: number }> {
  const load = createXtrackLoad(encodeURIComponent(run), 4, events, 0);
  const before = await server.usage();
  const startMs = performance.now();
  await Promise.all(load.streams.map((chunks) => send(server.xtrackPort, chunks)));
  await server.drained();
  const rate = load.events / ((performance.now() - startMs) / 1000);
  return { rate, cpuUs: (((await server.usage()).server.cpuMs - before.server.cpuMs) * 1000) / load.events };
}

async function send(port: number, chunks: readonly Buffer[]): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  for (const chunk of chunks) if (!socket.write(chunk)) await once(socket, "drain");
  socket.end();
  await once(socket.resume(), "close");
}

/** From the moment a point is written to a worker's socket to its live event at a subscriber, in ms. */
async function watch(from: BenchServer, at: BenchServer, run: string): Promise<number[]> {
  const stop = new AbortController();
  const response = await fetch(`${at.url}/api/v1/live?run=${run}`, { signal: stop.signal });
  const seen = new Map<string, number>();
  const reading = (async () => {
    for await (const event of readEvents(response))
      if (event.name === "metrics") for (const step of event.data.step) seen.set(String(step), performance.now());
  })().catch(() => undefined);
  const socket = connect(from.xtrackPort, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  const frame = (type: string, seq: number, payload: object): Buffer => {
    const text = Buffer.from(JSON.stringify({ v: 1, t: type, m: { seq, ts: seq, wid: "w" }, p: payload }));
    const head = Buffer.alloc(4);
    head.writeUInt32BE(text.length);
    return Buffer.concat([head, text]);
  };
  socket.write(frame("run_start", 1, { run_id: run }));
  await sleep(500);
  const waits: number[] = [];
  for (let step = 1; step <= 200; step++) {
    const sentMs = performance.now();
    socket.write(frame("metric", step + 1, { run_id: run, key: "loss", value: step, step }));
    while (!seen.has(String(step)) && performance.now() - sentMs < 2000) await sleep(1);
    waits.push((seen.get(String(step)) ?? Number.POSITIVE_INFINITY) - sentMs);
  }
  socket.end();
  stop.abort();
  await reading;
  return waits;
}

/** The median and the best of asking for something, in ms. */
async function time(url: string): Promise<{ median: number; best: number }> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    await (await fetch(url)).arrayBuffer();
    times.push(performance.now() - startMs);
  }
  return { median: quantile(times, 0.5), best: Math.min(...times) };
}

const ms = (value: number): string => value.toFixed(1);

const alone = await startServer({ env: store });
await ingest(alone, "warm");
const without = await ingest(alone, "alone");
await alone.close();
const [a, b] = [await startServer({ env: bus }), await startServer({ env: bus })];
await sleep(2000);
await ingest(a, "warm too");
const withBus = await ingest(a, "one");
const near = await watch(a, a, "near");
const far = await watch(a, b, "far");
// The same events at both at one moment: rows are stored twice until the engine merges their copies.
await Promise.all([ingest(a, "two"), ingest(b, "two")]);
const questions = {
  "a series of 200,000 points in 1,000 buckets": "/metrics/train%2Floss?buckets=1000",
  "the run's head": "",
};
const reads = [];
for (const [name, path] of Object.entries(questions)) {
  const [one, two] = [await time(`${b.url}/api/v1/runs/one${path}`), await time(`${b.url}/api/v1/runs/two${path}`)];
  reads.push(`| ${name} | ${ms(one.median)} · ${ms(one.best)} | ${ms(two.median)} · ${ms(two.best)} |`);
}
const counted = await fetch(`${b.url}/api/v1/runs/two/metrics`);
const { metrics } = (await counted.json()) as { metrics: { count: number }[] };
await Promise.all([a.close(), b.close()]);
await nats.kill();
await shared.close();

const page = `# Two collectors on one store

\`node bench/several.ts\` on ${describeMachine()}. Both collectors, the engine, NATS and the clients share these cores.

| ${whole(events)} XTrack events to one collector | events/s until queryable | collector's processor µs an event |
| --- | ---: | ---: |
| without a bus | ${whole(without.rate)} | ${without.cpuUs.toFixed(2)} |
| with a bus and a second collector | ${whole(withBus.rate)} | ${withBus.cpuUs.toFixed(2)} |

| a point, from the worker's socket to a live subscriber, ms | p50 | p95 |
| --- | ---: | ---: |
| at the collector that the worker is connected to | ${ms(quantile(near, 0.5))} | ${ms(quantile(near, 0.95))} |
| at the other collector | ${ms(quantile(far, 0.5))} | ${ms(quantile(far, 0.95))} |

| asked for, ms: median · best of ${rounds} | a run that one collector wrote | a run that both wrote in full |
| --- | ---: | ---: |
${reads.join("\n")}

Both answer ${whole(metrics[0]?.count ?? 0)} points for the run that both wrote.
`;
process.stdout.write(page);
if (process.argv.includes("--save")) await writeFile(new URL("results/several.md", import.meta.url), page);
