// Many jobs at once, each slow: 1,000 workers, each on its own connection and with its own run, ten metrics a second. How
// much of a core they take, and how soon a point can be queried. A real server with its embedded engine.
//
// Usage: node bench/jobs.ts [jobs, 1000] [seconds, 15] [--save] [--prof DIR]

import { once } from "node:events";
import { writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createMetricFrames, firstNumber } from "./support/metric-frames.ts";
import { askSql, describeMachine, quantile, startBare, startServer, whole } from "./support/server.ts";
import { nodeFlags, numbers, savePage } from "./support/words.ts";
import { toEvent } from "./support/xtrack-socket.ts";

const [jobs = 1000, seconds = 15] = numbers;
const perSecond = 10;
const tickMs = 1000 / perSecond;
const steps = seconds * perSecond;

async function connectAll(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let job = 0; job < jobs; job++) {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(toEvent("run_start", { seq: firstNumber, ts: Date.now() * 1000, wid: "w" }, { run_id: `job-${job}` }));
    sockets.push(socket);
  }
  await sleep(2000);
  return sockets;
}

/**
 * Straight to the kernel: ten thousand streams of Node would take more of the machine than the server that is measured. What
 * does not fit into the kernel's buffer is written through the stream.
 */
function writeNow(socket: Socket, frame: Buffer): void {
  const { fd } = (socket as unknown as { readonly _handle: { readonly fd: number } })._handle;
  let written = 0;
  try {
    if (socket.writableLength === 0) written = writeSync(fd, frame);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  }
  if (written < frame.length) socket.write(Uint8Array.from(frame.subarray(written)));
}

/** The metrics of all steps, and the seconds they took. Within a tick, each job sends at a time of its own. */
async function sendAll(sockets: readonly Socket[], afterStep: (step: number) => void): Promise<number> {
  const frames = sockets.map((_, job) => createMetricFrames(`job-${job}`));
  const startMs = performance.now();
  for (let step = 1; step <= steps; step++) {
    for (let part = 0; part < 10; part++) {
      const tsUs = Date.now() * 1000;
      for (let job = part; job < jobs; job += 10) writeNow(sockets[job] as Socket, frames[job]?.(step, tsUs) as Buffer);
      const dueMs = startMs + (step - 1) * tickMs + ((part + 1) * tickMs) / 10;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    afterStep(step);
  }
  return (performance.now() - startMs) / 1000;
}

/** The server closes a connection once everything received on it is durable: what is missing after that is lost. */
async function endAll(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      socket.resume();
      return once(socket.end(), "close");
    }),
  );
}

/** Processor time in µs that Node alone needs per metric. */
async function measureBare(): Promise<number> {
  const bare = await startBare("tcp");
  const sockets = await connectAll(bare.port);
  const before = await bare.usage();
  await sendAll(sockets, () => undefined);
  const after = await bare.usage();
  await endAll(sockets);
  await bare.close();
  return ((after.cpuMs - before.cpuMs) * 1000) / (jobs * steps);
}

const bareUs = await measureBare();
const server = await startServer({ nodeFlags });
const sockets = await connectAll(server.xtrackPort);
await server.drained();

/** The time from writing a point until the run's series contains it. */
async function look(job: number, step: number, sentMs: number): Promise<number> {
  for (;;) {
    const answer = (await (await fetch(`${server.url}/api/v1/runs/job-${job}/metrics`)).json()) as Answer;
    if (Number(answer.metrics[0]?.last_step ?? -1) >= firstNumber + step) return performance.now() - sentMs;
    await sleep(100);
  }
}

interface Answer {
  readonly metrics: readonly { readonly last_step: string | null }[];
}

const before = await server.usage();
const looks: Promise<number>[] = [];
const tookS = await sendAll(sockets, (step) => {
  if (step % (3 * perSecond) === 0) looks.push(look(step % jobs, step, performance.now()));
});
const after = await server.usage();
const waits = await Promise.all(looks);
await endAll(sockets);
await server.drained();
const settled = await server.usage();
const { runs } = (await (await fetch(`${server.url}/api/v1/runs?limit=1`)).json()) as {
  runs: unknown[];
  total?: number;
};
const [[points, found] = []] = await askSql(server, "SELECT count(), uniqExact(run_id) FROM metrics");
await server.close();
if (runs.length === 0) throw new Error("there are no runs");

const share = (from: number, to: number): string => `${(((to - from) / 10 / tookS) * 1).toFixed(1)} %`;
const each = (from: number, to: number): string => (((to - from) * 1000) / (jobs * steps)).toFixed(1);
const page = `# Many slow jobs

\`node bench/jobs.ts ${jobs} ${seconds}\` on ${describeMachine()}. ${whole(jobs)} connections, each with a run of its own, ${perSecond} metrics a second each, for ${Math.round(tookS)} s; the client shares the machine.

| | |
| --- | ---: |
| events/s sent | ${whole((jobs * steps) / tookS)} |
| points stored · sent · of runs | ${whole(Number(points))} · ${whole(jobs * steps)} · ${whole(Number(found))} |
| of one core: server | ${share(before.server.cpuMs, after.server.cpuMs)} |
| of one core: engine | ${share(before.engine.cpuMs, after.engine.cpuMs)} |
| processor µs a metric until all are stored: server · engine | ${each(before.server.cpuMs, settled.server.cpuMs)} · ${each(before.engine.cpuMs, settled.engine.cpuMs)} |
| the same for Node alone, which reads and parses the frames and keeps nothing | ${bareUs.toFixed(1)} |
| until a point can be queried, ms: p50 · p95 | ${whole(quantile(waits, 0.5))} · ${whole(quantile(waits, 0.95))} |
| peak memory, MiB: server · engine | ${after.server.peakMiB} · ${after.engine.peakMiB} |
`;
await savePage("jobs", page);
