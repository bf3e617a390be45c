// Senders of Cirron batches, in a process of their own and with a low priority, so that they take as little
// of the machine from the server as possible: ten requests for each accepted one, whatever the answers are. Usage: port, seconds;
// prints a JSON object of the type Noise at the end.

import { setPriority } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createCirronCopies } from "./cirron-load.ts";
import { Lane, toRequest } from "./raw-http.ts";
import { quantile } from "./server.ts";

export interface Noise {
  readonly senders: number;
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  /** Connections that ended before an answer. */
  readonly cut: number;
  /** The time from the first byte sent to a refusal. */
  readonly refusedMs: { readonly p50: number; readonly p99: number };
  readonly loopP99Ms: number;
}

const [port = 0, seconds = 0] = process.argv.slice(2).map(Number);
const senders = 64;
const timesCapacity = 10;
/** However many were refused, another is sent after this time, since the server may accept again. */
const pauseMsMax = 10;
const headers = ["content-type: application/json", "content-encoding: gzip", "authorization: Bearer bench"];

setPriority(5);
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const counts = { accepted: 0, refused: 0, failed: 0, cut: 0 };
const untilMs = performance.now() + seconds * 1000;
const copies = createCirronCopies();
const refusedMs: number[] = [];
let sent = 0;
let sentMs = 0;

function isAhead(): boolean {
  return sent > timesCapacity * (counts.accepted + senders) && performance.now() - sentMs < pauseMsMax;
}

async function send(): Promise<void> {
  let lane = await Lane.open(port);
  let request: Buffer | undefined;
  while (performance.now() < untilMs) {
    if (isAhead()) {
      await sleep(5);
      continue;
    }
    request ??= toRequest("/v1/traces", copies.next().value.body, headers);
    sent++;
    const askedMs = performance.now();
    sentMs = askedMs;
    const status = await lane.ask(request);
    if (status >= 400 && status < 500) refusedMs.push(performance.now() - askedMs);
    if (status === 0) counts.cut++;
    else if (status < 300) counts.accepted++;
    else if (status < 500) counts.refused++;
    else counts.failed++;
    // What was refused is sent again, as clients do.
    if (status > 0 && status < 300) request = undefined;
    if (!lane.isOpen) lane = await Lane.open(port);
  }
  lane.close();
}

await Promise.all(Array.from({ length: senders }, send));
const refused = refusedMs.length === 0 ? [0] : refusedMs;
const noise: Noise = {
  senders,
  ...counts,
  refusedMs: { p50: quantile(refused, 0.5), p99: quantile(refused, 0.99) },
  loopP99Ms: delay.percentile(99) / 1e6,
};
// A pipe takes little at once, and what it has not taken would go with the process.
process.stdout.write(JSON.stringify(noise), () => process.exit(0));
