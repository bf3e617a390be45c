// How fast XTrack frames become rows, on one core, against only framing and JSON.parse of the same bytes.
//
//   node bench/xtrack-decode.ts            prints the table
//   node bench/xtrack-decode.ts --save    also writes bench/results/xtrack-decode.md

import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { atOnce } from "#base/turns.ts";
import { KnownGroups } from "#intake/known-groups.ts";
import { RecentIds } from "#intake/recent-ids.ts";
import { applyXtrack } from "#intake/xtrack/apply.ts";
import { EventDecoder } from "#wire/xtrack/decode.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import { XtrackStream } from "#wire/xtrack/stream.ts";
import { describeMachine } from "./support/server.ts";
import { savePage } from "./support/words.ts";

const chunkBytes = 64 * 1024;
// Many short rounds, of which the best is taken: other work on the machine then hardly matters.
const rounds = 60;

interface Load {
  readonly name: string;
  readonly stream: Uint8Array;
  readonly events: number;
  readonly points: number;
}

/** Losses as a training prints them: float32 values promoted to double, 16 or 17 digits. */
function lossAt(step: number): number {
  return Math.fround(4 / Math.sqrt(1 + step / 50) + Math.sin(step * 12.9898) * 0.01);
}

function toFrame(t: string, m: object, p: object): Uint8Array {
  return encodePayload(Buffer.from(JSON.stringify({ v: 1, t, m, p })));
}

function toLoad(name: string, frames: readonly Uint8Array[], points: number): Load {
  return { name, stream: new Uint8Array(Buffer.concat(frames)), events: frames.length, points };
}

const runId = "59a83676-15ca-4ec8-a01c-4610eeb410de";
const tsBase = 1794710321102255;
const ctx = { phase: "train", batch_size: 64 };

function singleMetrics(count: number): Load {
  const keys = ["loss", "grad_norm", "tokens_per_s", "lr"];
  const frames = Array.from({ length: count }, (_, i) => {
    const key = keys[i % keys.length] as string;
    const payload = { run_id: runId, key, value: lossAt(i), step: i >> 2, epoch: 0, ctx };
    return toFrame("metric", { seq: i + 2, ts: tsBase + i * 137, wid: "worker-0" }, payload);
  });
  return toLoad("single metrics", frames, count);
}

function batches(count: number, size: number): Load {
  const frames = Array.from({ length: count }, (_, i) => {
    const metrics = Object.fromEntries(
      Array.from({ length: size }, (_, k) => [`layer_${k}/grad_norm`, lossAt(i * size + k)]),
    );
    const m = { seq: i + 2, ts: tsBase + i * 1370 };
    return toFrame("metric_batch", m, { run_id: runId, step: i, epoch: 0, metrics, ctx });
  });
  return toLoad(`batches of ${size}`, frames, count * size);
}

function* chunksOf(stream: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < stream.length; at += chunkBytes) yield stream.slice(at, at + chunkBytes);
}

/** The yardstick: length prefixes and JSON.parse, nothing kept. */
function parseOnly(stream: Uint8Array): number {
  const buffer = Buffer.from(stream.buffer, stream.byteOffset, stream.length);
  let found = 0;
  for (let at = 0; at < buffer.length; ) {
    const size = buffer.readUInt32BE(at);
    const message = JSON.parse(buffer.toString("utf8", at + 4, at + 4 + size)) as { m: { seq: number } };
    found += message.m.seq > 0 ? 1 : 0;
    at += 4 + size;
  }
  return found;
}

function decodeGenerally(stream: Uint8Array): number {
  const framer = new Framer();
  const decoder = new EventDecoder();
  let found = 0;
  for (const chunk of chunksOf(stream)) {
    framer.push(chunk);
    while (framer.next() === "frame") {
      decoder.decodeAny(framer.bytes, framer.frameStart, framer.frameEnd, framer.frameOffset);
    }
    found += decoder.columns.length;
    decoder.renewColumns();
  }
  return found;
}

function decode(stream: Uint8Array): number {
  const decoder = new XtrackStream();
  let found = 0;
  for (const chunk of chunksOf(stream)) found += decoder.push(chunk)?.decoded.columns.length ?? 0;
  return found;
}

function decodeAndApply(stream: Uint8Array): number {
  const decoder = new XtrackStream();
  const state = { groups: new KnownGroups(), faults: new RecentIds() };
  let found = 0;
  let position = 0;
  for (const bytes of chunksOf(stream)) {
    const chunk = decoder.push(bytes);
    if (chunk === null) continue;
    const meta = { workspace: "default", receivedNs: 1n, transport: "tcp", runOverride: null, imported: false };
    found += atOnce(applyXtrack(state, chunk, chunk.decoded, { ...meta, position: ++position })).accepted;
  }
  return found;
}

const contenders: readonly [string, (stream: Uint8Array) => number][] = [
  ["framing and JSON.parse only", parseOnly],
  ["general decoder into columns", decodeGenerally],
  ["stream: fast path into columns, journal body", decode],
  ["stream and intake: identities, ranges, all columns filled", decodeAndApply],
];

/** Seconds of the best round of the contender, and of the yardstick whose rounds came between its own. */
function measure(work: (stream: Uint8Array) => number, load: Load): [number, number] {
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round++) {
    for (const [at, one] of [work, parseOnly].entries()) {
      const start = performance.now();
      if (one(load.stream) !== load.events) throw new Error("events were lost");
      best[at as 0 | 1] = Math.min(best[at as 0 | 1], performance.now() - start);
    }
  }
  return [best[0] / 1000, best[1] / 1000];
}

const loads: readonly (() => Load)[] = [() => singleMetrics(20_000), () => batches(5_000, 20)];

/** In a process of its own, so that what one contender teaches the compiler does not change the others. */
function measureApart(load: number, contender: number): [number, number] {
  const script = process.argv[1] as string;
  return JSON.parse(
    execFileSync(process.execPath, [script, "--one", String(load), String(contender)], { encoding: "utf8" }),
  );
}

function toTable(load: Load, index: number): string {
  const lines = [`### ${load.name}: ${load.events} events, ${(load.stream.length / 1e6).toFixed(1)} MB`, ""];
  lines.push("| | events/s | points/s | MB/s | × JSON.parse |", "| --- | ---: | ---: | ---: | ---: |");
  for (const [at, [name]] of contenders.entries()) {
    const [seconds, yardstick] = measureApart(index, at);
    const rate = (count: number) => Math.round(count / seconds).toLocaleString("en");
    const megabytes = (load.stream.length / 1e6 / seconds).toFixed(0);
    lines.push(
      `| ${name} | ${rate(load.events)} | ${rate(load.points)} | ${megabytes} | ${(yardstick / seconds).toFixed(2)} |`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const head = `# XTrack frames to rows

One core, best of ${rounds} short rounds, chunks of 64 KiB, each line in a process of its own, its rounds
between rounds of the first line, to which the last column compares it.
\`node bench/xtrack-decode.ts\` on ${describeMachine()}.

`;

const one = process.argv.indexOf("--one");
if (one > 0) {
  const [load, contender] = process.argv.slice(one + 1).map(Number) as [number, number];
  console.log(
    JSON.stringify(measure((contenders[contender] as (typeof contenders)[number])[1], (loads[load] as () => Load)())),
  );
} else {
  const tables = loads.map((load, index) => toTable(load(), index)).join("\n");
  await savePage("xtrack-decode", head + tables);
}
