// More than the server can take, for minutes: 64 senders of Cirron batches that offer ten times as much as is accepted, into a
// journal that is soon full. Beside them a quiet sender, a worker that waits for acks, a monitor and a person, whose process
// has little to do, so that what they wait for is the server.
//
// Usage: node bench/overload.ts [seconds, 600] [--save] [--prof DIR]

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Noise } from "./support/overload-noise.ts";
import type { Observed, Seen } from "./support/overload-observers.ts";
import { describeMachine, quantiles, startServer, whole } from "./support/server.ts";
import { nodeFlags, numbers, savePage } from "./support/words.ts";

const [seconds = 600] = numbers;
const run = promisify(execFile);

/** What a program of the support folder prints. */
async function ask<T>(name: string, ...words: readonly number[]): Promise<T> {
  const path = new URL(`support/${name}.ts`, import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [path, ...words.map(String)], { maxBuffer: 1 << 28 });
  return JSON.parse(stdout) as T;
}

const server = await startServer({ nodeFlags, env: { TRIBUTARY_JOURNAL_BUDGET: "256MiB" } });
const port = Number(new URL(server.url).port);
const [noise, { seen, loopP99Ms }] = await Promise.all([
  ask<Noise>("overload-noise", port, seconds),
  ask<Observed>("overload-observers", port, server.xtrackPort, seconds),
]);
const { server: used, engine } = await server.usage();
await server.close();

const ms = (values: readonly number[]): string => (values.length === 0 ? "–" : quantiles(values, [0.5, 0.99, 1], 0));
const row = (name: string, { acceptedMs, refusedMs, failed }: Seen): string =>
  `| ${name} | ${whole(acceptedMs.length)} | ${whole(refusedMs.length)} | ${failed} | ${ms(acceptedMs)} | ${ms(refusedMs)} |`;
const page = `# Overload

\`node bench/overload.ts ${seconds}\`, on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}. ${noise.senders} senders that offer a batch of about 3,000 rows ten times for each that is accepted, a journal of 256 MiB. All clients share the machine with the server; the senders run with a low priority, and the clients whose times are reported run in another process.

In ${seconds} s the senders were answered 202 ${whole(noise.accepted)} times, 429 ${whole(noise.refused)} times and 5xx ${whole(noise.failed)} times; ${whole(noise.cut)} connections ended before an answer. Until a refusal came, from the first byte of the request on, it took ${noise.refusedMs.p50.toFixed(0)} ms in the median and ${noise.refusedMs.p99.toFixed(0)} (p99).

| beside them, every 250 ms | accepted | refused | failed | accepted, ms: median · p99 · longest | refused, ms |
| --- | ---: | ---: | ---: | ---: | ---: |
${row("a quiet sender, a span each", seen.span)}
${row("a worker, an event each, until its ack", seen.event)}
${row("a batch of about 3,000 rows", seen.batch)}
${row("GET /healthz", seen.health)}
${row("GET /, the page", seen.page)}
${row("GET /api/v1/runs", seen.runs)}

Of the waiting, the clients' own event loop made up to ${loopP99Ms.toFixed(0)} ms (p99; that of the senders: ${noise.loopP99Ms.toFixed(0)}). The server held ${whole(used.peakMiB)} MiB at its height, its engine ${whole(engine.peakMiB)}; \`memory.budget\` is 1 GiB. They took ${whole(used.cpuMs / 1000)} and ${whole(engine.cpuMs / 1000)} s of processor time.
`;
await savePage("overload", page);
process.exit(0);
