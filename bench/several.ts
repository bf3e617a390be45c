// Several collectors on one store and one bus: what the bus costs, how fast records cross it, what reading a run costs that
// two collectors wrote, how far three share the work, and what a collector costs that receives nothing. Real servers, a
// real NATS server, and one engine that all reach by URL.
//
// Usage: node bench/several.ts [--spans 600000] [--idle 2000000] [--save]

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readEvents } from "../src/api/server-events.ts";
import { startNats, startSharedStore } from "../tests/support/several.ts";
import { type Installation, measureIdling, measureScaling, type Taken } from "./support/collectors-load.ts";
import { type BenchServer, describeMachine, quantile, startServer, whole } from "./support/server.ts";
import { option, savePage } from "./support/words.ts";
import { createXtrackLoad } from "./support/xtrack-load.ts";
import { sendChunks, toEvent } from "./support/xtrack-socket.ts";

const events = 200_000;
const freshRuns = 1000;
const rounds = 15;

async function openInstallation(): Promise<Installation> {
  const [nats, shared] = await Promise.all([startNats(), startSharedStore()]);
  const store = { TRIBUTARY_STORE_URL: shared.url, TRIBUTARY_STORE_GUEST_USER: "guest" };
  return {
    store,
    bus: { ...store, TRIBUTARY_BUS_URL: nats.url, TRIBUTARY_LOG_LEVEL: "error" },
    async close() {
      await nats.kill();
      await shared.close();
    },
  };
}

const { store, bus, close } = await openInstallation();

/** Sends a run's events over four connections; gives events/s until queryable and the collector's µs an event. */
async function ingest(server: BenchServer, run: string): Promise<{ rate: number; cpuUs: number }> {
  const load = createXtrackLoad(encodeURIComponent(run), 4, events, 0);
  const before = await server.usage();
  const startMs = performance.now();
  await Promise.all(load.streams.map((chunks) => sendChunks(server.xtrackPort, chunks)));
  await server.drained();
  const rate = load.events / ((performance.now() - startMs) / 1000);
  return { rate, cpuUs: (((await server.usage()).server.cpuMs - before.server.cpuMs) * 1000) / load.events };
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
  const frame = (type: string, seq: number, payload: object) => toEvent(type, { seq, ts: seq, wid: "w" }, payload);
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

/** The median and the best time of a request, in ms. */
async function time(url: string): Promise<{ median: number; best: number }> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    await (await fetch(url)).arrayBuffer();
    times.push(performance.now() - startMs);
  }
  return { median: quantile(times, 0.5), best: Math.min(...times) };
}

/** New runs with a few events each, over one connection: seconds until all can be queried. */
async function newRuns(server: BenchServer, count: number): Promise<number> {
  const chunks = Array.from({ length: count }, (_, at) => createXtrackLoad(`new-${at}`, 1, 16, 0).streams[0] ?? []);
  const startMs = performance.now();
  await sendChunks(server.xtrackPort, chunks.flat());
  await server.drained();
  return (performance.now() - startMs) / 1000;
}

/** Deletes a run: ms until it is hidden, and the processor ms that each collector spends within three seconds. */
async function deletion(by: BenchServer, other: BenchServer, run: string) {
  const before = await Promise.all([by.usage(), other.usage()]);
  const startMs = performance.now();
  const answer = await fetch(`${by.url}/api/v1/runs/${run}`, { method: "DELETE" });
  if (!answer.ok) throw new Error(`not deleted: ${answer.status}`);
  const hiddenMs = performance.now() - startMs;
  await sleep(3000);
  const after = await Promise.all([by.usage(), other.usage()]);
  return { hiddenMs, cpuMs: after.map(({ server }, at) => server.cpuMs - (before[at]?.server.cpuMs ?? 0)) };
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
const freshSeconds = await newRuns(a, freshRuns);
const table = await time(`${b.url}/api/v1/runs?limit=50`);
const deleted = await deletion(a, b, "new-0");
const counted = await fetch(`${b.url}/api/v1/runs/two/metrics`);
const { metrics } = (await counted.json()) as { metrics: { count: number }[] };
await Promise.all([a.close(), b.close()]);
await close();
const { alone: one, apart, together } = await measureScaling(openInstallation, Number(option("--spans") ?? 600_000));
const others = await openInstallation();
const idling = await measureIdling(others.bus, Number(option("--idle") ?? 2_000_000));
await others.close();

/** Processor µs of each collector for a span of its own, of which all take equally many. */
const perSpan = ({ spans, cpuMs }: Taken): number[] => cpuMs.map((spent) => (spent * 1000 * cpuMs.length) / spans);
const sayEach = (each: readonly number[]): string => each.map((us) => us.toFixed(2)).join(" · ");
const busiest = (taken: Taken): number => Math.max(...perSpan(taken));
const times = (together.cpuMs.length * busiest(apart)) / busiest(together);

const page = `# Several collectors on one store

\`node bench/several.ts\` on ${describeMachine()}. All collectors, the engine, NATS and the clients share these cores.

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

| Cirron spans with their marks and snapshots, each training to one collector | to one | to three without a bus | to three |
| --- | ---: | ---: | ---: |
| spans | ${[one, apart, together].map(({ spans }) => whole(spans)).join(" | ")} |
| spans/s until queryable, all processes on these cores | ${[one, apart, together].map(({ spans, seconds }) => whole(spans / seconds)).join(" | ")} |
| processor µs of each collector for a span that it takes | ${[one, apart, together].map((taken) => sayEach(perSpan(taken))).join(" | ")} |

Three collectors take **${times.toFixed(2)} times** what one takes, if each has a machine of its own and the store is not the limit.
This compares the processor time that the busiest of three needs for a span of its own, including what it hears of the
others, with what it needs where three share this machine and the store and do nothing for each other. Rates cannot show it,
nor can the processor time of one alone: here three collectors, the engine and the senders share two cores and their caches.

| ${whole(idling.spans)} Cirron spans to one collector, while another takes nothing | |
| --- | ---: |
| processor µs a span, at the one that takes them | ${idling.takerUs.toFixed(2)} |
| processor µs a span, at the other | ${idling.idleUs.toFixed(2)} |
| the other's memory, MiB: before · at its height · in the end | ${idling.idleMiB.join(" · ")} |

| on a server store | |
| --- | ---: |
| ${whole(freshRuns)} new XTrack runs over one connection, s until queryable | ${freshSeconds.toFixed(1)} |
| the table of all runs at the other collector, ms: median · best of ${rounds} | ${ms(table.median)} · ${ms(table.best)} |
| deleting a run of 16 points, ms until it is hidden | ${ms(deleted.hiddenMs)} |
| processor ms for it within 3 s, at the one that deletes · at the other | ${deleted.cpuMs.join(" · ")} |

Both answer ${whole(metrics[0]?.count ?? 0)} points for the run that both wrote.
`;
await savePage("several", page);
