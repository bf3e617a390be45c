// Live events at full traffic: 100,000 XTrack metrics a second in, and a real browser that shows a run's charts. Measures how
// long a metric takes from the sender to the page, and whether the page still draws its frames: for a quiet run beside the
// traffic, and for a run that receives a quarter of it.
//
// Usage: node bench/live.ts [events a second, 100000] [seconds, 20] [--save]

import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openBrowser, type TestBrowser } from "../tests/web/browser.ts";
import { createMetricFrames, firstNumber } from "./support/metric-frames.ts";
import { type BenchServer, describeMachine, quantile, startServer, whole } from "./support/server.ts";
import { numbers, savePage } from "./support/words.ts";
import { openSocket, toEvent } from "./support/xtrack-socket.ts";

const [perSecond = 100_000, seconds = 20] = numbers;
const connections = 4;
const tickMs = 20;
const framesPerTick = Math.round((perSecond * tickMs) / 1000 / connections);
const quietPerSecond = 10;
/** One and a half frames at 60 Hz. */
const lateMs = 25;

interface Job {
  readonly run: string;
  readonly socket: Socket;
  /** Writes that many metrics with the current time. */
  send(count: number): void;
}

async function openJob(server: BenchServer, run: string): Promise<Job> {
  const socket = await openSocket(server.xtrackPort);
  socket.write(toEvent("run_start", { seq: firstNumber, ts: Date.now() * 1000, wid: "w" }, { run_id: run }));
  const frame = createMetricFrames(run);
  let step = 0;
  const send = (count: number): void => {
    const tsUs = Date.now() * 1000;
    socket.write(Buffer.concat(Array.from({ length: count }, () => frame(++step, tsUs))));
  };
  return { run, socket, send };
}

/** Sends until the page has measured long enough; returns the events per second. */
async function sendMeanwhile(busy: readonly Job[], quiet: Job, looking: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = looking.finally(() => {
    isOver = true;
  });
  const startMs = performance.now();
  let sent = 0;
  for (let tick = 0; !isOver; tick++) {
    for (const job of busy) job.send(framesPerTick);
    sent += framesPerTick * busy.length;
    if (tick % (1000 / quietPerSecond / tickMs) === 0) quiet.send(1);
    await sleep(Math.max(0, startMs + (tick + 1) * tickMs - performance.now()));
  }
  await over;
  return (sent * 1000) / (performance.now() - startMs);
}

interface Looked {
  readonly delaysMs: number[];
  readonly points: number;
  readonly framesMs: number[];
}

/** Runs in the page: listens to the page's event stream and counts the frames it draws. */
const lookInPage = `(run, ms) => new Promise((resolve, reject) => {
  const delaysMs = [];
  const framesMs = [];
  let points = 0;
  const stream = new EventSource("/api/v1/live?run=" + run);
  stream.addEventListener("metrics", ({ data }) => {
    const { ts_ns } = JSON.parse(data);
    points += ts_ns.length;
    const now = Date.now();
    for (const ts of ts_ns) delaysMs.push(now - Number(ts) / 1e6);
  });
  stream.addEventListener("error", () => reject(new Error("the stream broke")));
  let last = performance.now();
  const until = last + ms;
  const draw = (now) => {
    framesMs.push(now - last);
    last = now;
    if (now < until) return requestAnimationFrame(draw);
    stream.close();
    const sample = delaysMs.filter((_, at) => at % Math.ceil(delaysMs.length / 20000) === 0);
    resolve({ delaysMs: sample, points, framesMs: framesMs.slice(1) });
  };
  requestAnimationFrame(draw);
})`;

async function measure(browser: TestBrowser, server: BenchServer, run: string, busy: readonly Job[], quiet: Job) {
  const { page, close } = await browser.visit(`${server.url}/runs/${run}/charts`);
  await page.locator(".chart-panel canvas").first().waitFor({ timeout: 60_000 });
  // The first seconds are left out: the page's code is still being compiled.
  const looking = (async (): Promise<Looked> => {
    await sleep(3000);
    return page.evaluate<Looked>(`(${lookInPage})(${JSON.stringify(run)}, ${seconds * 1000})`);
  })();
  const before = await server.usage();
  const eventsPerS = await sendMeanwhile(busy, quiet, looking);
  const looked = await looking;
  const after = await server.usage();
  await close();
  const lookedS = seconds + 3;
  const cores = [after.server.cpuMs - before.server.cpuMs, after.engine.cpuMs - before.engine.cpuMs].map(
    (ms) => `${(ms / 10 / lookedS).toFixed(0)} %`,
  );
  const delays = [0.5, 0.95, 0.99].map((q) => whole(quantile(looked.delaysMs, q))).join(" · ");
  const { framesMs } = looked;
  const frames = [
    whole((framesMs.length * 1000) / framesMs.reduce((sum, ms) => sum + ms, 0)),
    quantile(framesMs, 0.95).toFixed(1),
    framesMs.filter((ms) => ms > lateMs).length,
  ];
  return [whole(eventsPerS), whole(looked.points / seconds), delays, ...frames, cores.join(" · ")];
}

const server = await startServer();
const browser = await openBrowser();
const names = Array.from({ length: connections }, (_, at) => `busy-${at}`);
const busy = await Promise.all(names.map((name) => openJob(server, name)));
const quiet = await openJob(server, "quiet");
for (const job of [...busy, quiet]) job.send(10);
await server.drained();
const rows: (readonly string[])[] = [];
for (const [what, run, senders] of [
  ["a quiet run, nothing else", "quiet", []],
  ["a quiet run beside the traffic", "quiet", busy],
  ["a run with a quarter of the traffic", "busy-0", busy],
] as const)
  rows.push([what, ...(await measure(browser, server, run, senders, quiet)).map(String)]);
await browser.close();
for (const { socket } of [...busy, quiet]) socket.destroy();
await server.close();

const page = `# Live

\`node bench/live.ts ${perSecond} ${seconds}\` on ${describeMachine()}. Sender, server, engine and browser share these cores, and the browser draws without a GPU.
Milliseconds from the sender's clock to the page's; a frame is late after ${lateMs} ms.

| what the page shows | events/s sent | points/s in the page | until the page has a point, ms: p50 · p95 · p99 | frames/s | p95 between frames, ms | late | of a core: server · engine |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}
`;
await savePage("live", page);
// The browser belongs to the process and would keep it alive.
process.exit();
