// More than the server can take, for minutes: 64 senders of Cirron batches that send on whatever they are answered, into a
// journal that is soon full, and beside them a quiet one that sends a span from time to time, and a monitor.
//
// Usage: node bench/overload.ts [seconds, 600] [--save]

import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createCirronCopies } from "./support/cirron-load.ts";
import { postTraces } from "./support/post.ts";
import { describeMachine, quantile, startServer, whole } from "./support/server.ts";
import { numbers, savePage } from "./support/words.ts";

const [seconds = 600] = numbers;
const senders = 64;
const quietMs = 250;

class Answers {
  readonly counts = new Map<number, number>();
  readonly acceptedMs: number[] = [];
  readonly refusedMs: number[] = [];

  async time(ask: () => Promise<number>): Promise<number> {
    const beganMs = performance.now();
    const status = await ask();
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
    (status < 300 ? this.acceptedMs : this.refusedMs).push(performance.now() - beganMs);
    return status;
  }

  get failed(): number {
    return [...this.counts].reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), 0);
  }
}

const server = await startServer({ env: { TRIBUTARY_JOURNAL_BUDGET: "256MiB" } });
const [noisy, quiet, monitor] = [new Answers(), new Answers(), new Answers()];
const until = performance.now() + seconds * 1000;
const isOver = (): boolean => performance.now() >= until;
const copies = createCirronCopies();

async function sendNoisily(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver()) await noisy.time(() => postTraces(server.url, agent, copies.next().value.body));
  agent.destroy();
}

async function sendQuietly(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const hex = (): string => randomBytes(16).toString("hex");
  while (!isOver()) {
    const row = `{"id":"${hex()}","name":"quiet","parent_id":null,"index":0,"start_ns":1,"end_ns":2,"thread_id":1,"pid":1,"rank":0,"attrs":{},"mark_ids":[]}`;
    const head = `"schema_version":1,"sdk_version":"0.0.0","batch_id":"${hex()}","created_ns":1`;
    const body = gzipSync(`{${head},"spans":[${row}],"marks":[],"snapshots":[]}`);
    await quiet.time(() => postTraces(server.url, agent, body));
    await sleep(quietMs);
  }
  agent.destroy();
}

let peakMiB = 0;
async function watch(): Promise<void> {
  while (!isOver()) {
    await monitor.time(async () => (await fetch(`${server.url}/healthz`)).status);
    peakMiB = Math.max(peakMiB, (await server.usage()).server.nowMiB);
    await sleep(quietMs);
  }
}

await Promise.all([...Array.from({ length: senders }, sendNoisily), sendQuietly(), watch()]);
await server.close();

const ms = (values: readonly number[], q: number): string =>
  values.length === 0 ? "–" : quantile(values, q).toFixed(0);
const row = (name: string, answers: Answers): string =>
  `| ${name} | ${whole(answers.acceptedMs.length)} | ${whole(answers.refusedMs.length)} | ${answers.failed} | ${ms(answers.acceptedMs, 0.5)} · ${ms(answers.acceptedMs, 0.99)} | ${ms(answers.refusedMs, 0.5)} · ${ms(answers.refusedMs, 0.99)} |`;
const page = `# Overload

\`node bench/overload.ts ${seconds}\`, on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}. ${senders} senders that never wait, a journal of 256 MiB; the clients share the machine with the server.

| ${seconds} s of | accepted | refused | 5xx | accepted, ms: median · p99 | refused, ms: median · p99 |
| --- | ---: | ---: | ---: | ---: | ---: |
${row("noisy senders, a batch of about 3,000 rows each", noisy)}
${row("a quiet sender, a span each", quiet)}
${row("GET /healthz", monitor)}

The server held ${whole(Math.round(peakMiB))} MiB at most; \`memory.budget\` is 1 GiB.
`;
await savePage("overload", page);
process.exit(0);
