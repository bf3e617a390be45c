// Ingest into a real server, until queryable: Cirron batches over HTTP (gzip, as the SDK posts them) and XTrack
// metrics over TCP, beside JSON.parse of the same bytes in the same run. Client, server and engine share the machine.
//
// Usage: node bench/ingest.ts [spans, 400000] [events, 800000] [--save] [--prof DIR] [--only cirron|xtrack|steady]
//        [--steady SECONDS, 120] [--no-rules]
// Rules watch as they do by default; `--no-rules` says what that costs.

import { createCirronLoad } from "./support/cirron-load.ts";
import { postAll } from "./support/post.ts";
import {
  askSql,
  type BenchServer,
  cpuMs,
  describeMachine,
  type Measured,
  measure,
  quantiles,
  startServer,
  whole,
} from "./support/server.ts";
import { measureSteady } from "./support/steady.ts";
import { isAsked, nodeFlags, numbers, option, savePage } from "./support/words.ts";
import { createXtrackLoad } from "./support/xtrack-load.ts";
import { sendChunks, textsOf } from "./support/xtrack-socket.ts";

const steadyS = Number(option("--steady") ?? 120);
const [spansMin = 400_000, eventsMin = 800_000] = numbers;
const only = option("--only");
/** The built-in rules watch unless they are turned off. */
const isWatching = !isAsked("--no-rules");
const env = { TRIBUTARY_WATCH_RULES: isWatching ? "on" : "off" };
const warmSpans = 20_000;
const posters = 4;
const timeoutMs = 40_000;

/** Milliseconds of processor time for decoding and parsing each text once; the best of a few rounds. */
function parseMs(texts: readonly Uint8Array[]): number {
  const decoder = new TextDecoder();
  const parse = (): void => {
    for (const text of texts) JSON.parse(decoder.decode(text));
  };
  return Math.min(...Array.from({ length: 12 }, () => cpuMs(parse)));
}

async function measureCirron(): Promise<string[]> {
  // Enough for the runtime to have compiled what runs often: a server runs for days.
  const warm = createCirronLoad(warmSpans);
  const load = createCirronLoad(spansMin);
  const server = await startServer({ nodeFlags, env });
  await postAll(server.url, warm.bodies, { connections: 1 });
  await server.drained();
  // The warm-up was copy 0 of the training, which the server now knows.
  const fresh = load.bodies.slice(warm.bodies.length);
  const measured = await measure(server, () => postAll(server.url, fresh, { connections: posters, timeoutMs }));
  const { latencyMs, refused } = measured.result;
  const share = latencyMs.length / load.bodies.length;
  const [spans, marks, snapshots] = [load.spans, load.marks, load.snapshots].map((count) => count * share) as [
    number,
    number,
    number,
  ];
  const expected = await count(server, "SELECT count() FROM spans");
  await server.close();
  const parse = (parseMs(load.sample.texts) * 1000) / load.sample.spans;
  return [
    "## Cirron over HTTP",
    "",
    `${whole(latencyMs.length)} batches (gzip; ${whole(load.rawBytes / load.bodies.length / 1024)} KiB each before it), ${posters} connections: ${whole(spans)} spans, ${whole(marks)} marks, ${whole(snapshots)} snapshots. Refused: ${refused}. Spans in the store at the end, with the warm-up: ${expected}.`,
    "",
    "| | |",
    "| --- | ---: |",
    `| spans/s until queryable, with their marks and snapshots | ${whole(spans / measured.queryableS)} |`,
    `| spans/s accepted (durable) | ${whole(spans / measured.acceptedS)} |`,
    `| rows/s of all kinds until queryable | ${whole((spans + marks * 2 + snapshots) / measured.queryableS)} |`,
    `| accept latency, ms: p50 · p99 | ${quantiles(latencyMs, [0.5, 0.99], 1)} |`,
    ...costLines(measured, spans, "span", parse),
  ];
}

/** `unitParseUs` is what JSON.parse alone takes for one unit's share of the bytes. */
function costLines(measured: Measured<unknown>, units: number, unit: string, unitParseUs: number): string[] {
  const us = (ms: number): string => ((ms * 1000) / units).toFixed(1);
  const ratio = ((unitParseUs * units) / 1000 / measured.server.cpuMs).toFixed(2);
  return [
    `| processor µs a ${unit}: server · engine · client | ${us(measured.server.cpuMs)} · ${us(measured.engine.cpuMs)} · ${us(measured.clientMs)} |`,
    `| JSON.parse of the same bytes, µs a ${unit} | ${unitParseUs.toFixed(2)} |`,
    `| JSON.parse ÷ server, processor time | ${ratio} |`,
    `| peak memory, MiB: server · engine | ${measured.server.peakMiB} · ${measured.engine.peakMiB} |`,
  ];
}

async function count(server: BenchServer, query: string): Promise<string> {
  return whole(Number((await askSql(server, query))[0]?.[0]));
}

async function measureXtrack(): Promise<string[]> {
  const shapes = [
    { connections: 1, batch: 0 },
    { connections: 4, batch: 0 },
    { connections: 1, batch: 20 },
    { connections: 4, batch: 20 },
  ];
  const lines = [
    "## XTrack over TCP",
    "",
    "Every event is journalled and synced; `queryable` counts what is in the store in the end, until the last is.",
    "",
    "| connections | points an event | events | events/s durable | events/s queryable | points/s queryable | points lost | longest wait of a sender, ms | server µs/event | engine µs/event | JSON.parse µs/event | JSON.parse ÷ server | peak MiB server · engine |",
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ];
  for (const shape of shapes) lines.push(await measureFrames(shape.connections, shape.batch));
  return lines;
}

async function measureFrames(connections: number, batch: number): Promise<string> {
  const server = await startServer({ nodeFlags, env });
  const warm = createXtrackLoad("warm", connections, 20_000, batch);
  const load = createXtrackLoad("bench", connections, batch === 0 ? eventsMin : eventsMin / 10, batch);
  const sendAll = (streams: readonly Buffer[][]): Promise<number[]> =>
    Promise.all(streams.map((chunks) => sendChunks(server.xtrackPort, chunks)));
  await sendAll(warm.streams);
  await server.drained();
  const measured = await measure(server, () => sendAll(load.streams));
  const stored = Number((await askSql(server, "SELECT count() FROM metrics WHERE run_id = 'bench'"))[0]?.[0]);
  await server.close();
  // Those of the first frames.
  const texts = textsOf(load.streams[0]?.[1] ?? load.streams[0]?.[0] ?? Buffer.alloc(0));
  const parse = (parseMs(texts) * 1000) / texts.length;
  const us = (ms: number): string => ((ms * 1000) / load.events).toFixed(2);
  const cells = [
    connections,
    Math.max(1, batch),
    whole(load.events),
    whole(load.events / measured.acceptedS),
    whole(stored / Math.max(1, batch) / measured.queryableS),
    whole(stored / measured.queryableS),
    whole(load.points - stored),
    whole(Math.max(...measured.result)),
    us(measured.server.cpuMs),
    us(measured.engine.cpuMs),
    parse.toFixed(2),
    ((parse * load.events) / 1000 / measured.server.cpuMs).toFixed(2),
    `${measured.server.peakMiB} · ${measured.engine.peakMiB}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

const sections: string[][] = [];
const wants = (section: string): boolean => only === undefined || only === section;
if (wants("cirron")) sections.push(await measureCirron());
if (wants("xtrack")) sections.push(await measureXtrack());
if (wants("steady")) sections.push(await measureSteady(steadyS));
const command = `node bench/ingest.ts${numbers.map((number) => ` ${number}`).join("")}${isWatching ? "" : " --no-rules"}`;
await savePage(
  "ingest",
  `# Ingest

\`${command}\` on ${describeMachine()}. The clients, the server and the engine share these cores.
${isWatching ? "The built-in rules watch, as they do by default." : "No rules watch."}

${sections.map((lines) => lines.join("\n")).join("\n\n")}
`,
);
