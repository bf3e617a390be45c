// Bytes on the disk, by table and column, after merges: points whose values are random doubles, points of a loss curve
// as a training prints it, and the Cirron spans, marks and snapshots of a real training, sent repeatedly under unrelated
// ids. Everything goes through a real server.
//
// Usage: node bench/disk.ts [points, 1000000] [spans, 200000] [--save]

import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent } from "node:http";
import { gzipSync } from "node:zlib";
import { createStore } from "#store/client.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../tests/support/ask-store.ts";
import { createRandom } from "../tests/support/random-inputs.ts";
import { createCirronLoad } from "./support/cirron-load.ts";
import { inFolder } from "./support/folder.ts";
import { postTraces } from "./support/post.ts";
import { type BenchServer, describeMachine, startServer, whole } from "./support/server.ts";
import { numbers, savePage } from "./support/words.ts";
import { openSocket, toFrame } from "./support/xtrack-socket.ts";

const [points = 1_000_000, spans = 200_000] = numbers;
const seriesEach = 10;
const firstUs = 1_700_000_000_000_000;

interface Found {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  /** Its largest columns, and its indexes. */
  readonly most: string;
}

/** Ten series of one worker, a step about every 250 ms, each value sent as a metric of its own. */
async function sendPoints(server: BenchServer, pick: (step: number, random: () => number) => number): Promise<void> {
  const random = createRandom(7);
  const socket = await openSocket(server.xtrackPort);
  let us = firstUs;
  let seq = 1;
  const frames: Buffer[] = [
    toFrame(`{"v":1,"t":"run_start","m":{"seq":1,"ts":${us},"wid":"w"},"p":{"run_id":"disk"}}`),
  ];
  for (let step = 0; step < points / seriesEach; step++) {
    us += 240_000 + Math.floor(20_000 * random());
    for (let series = 0; series < seriesEach; series++) {
      us += 5 + Math.floor(40 * random());
      const p = `{"run_id":"disk","key":"train/loss_${series}","value":${pick(step, random)},"step":${step}}`;
      frames.push(toFrame(`{"v":1,"t":"metric","m":{"seq":${++seq},"ts":${us},"wid":"w"},"p":${p}}`));
    }
    if (frames.length < 5000) continue;
    if (!socket.write(Buffer.concat(frames.splice(0)))) await once(socket, "drain");
  }
  socket.end(Buffer.concat(frames));
  await once(socket, "close");
}

/** The copies of a training have ids of their own, as random as those of the SDK. */
async function sendSpans(server: BenchServer): Promise<{ spans: number; marks: number; snapshots: number }> {
  const load = createCirronLoad(1);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const copies = Math.ceil(spans / load.spans);
  for (let copy = 0; copy < copies; copy++) {
    for (const text of load.sample.texts) {
      const fresh = text
        .toString("latin1")
        .replace(/"[0-9a-f]{32}"/g, (id) => JSON.stringify(createHash("md5").update(`${copy}${id}`).digest("hex")))
        .replace(/("pid":\s*)\d+/g, (_, before: string) => `${before}${1000 + copy}`);
      await postTraces(server.url, agent, gzipSync(fresh));
    }
  }
  agent.destroy();
  return { spans: load.spans * copies, marks: load.marks * copies, snapshots: load.snapshots * copies };
}

function measure<T>(send: (server: BenchServer) => Promise<T>): Promise<{ sent: T; found: Found[] }> {
  return inFolder(async (dataDir) => {
    const server = await startServer({ dataDir });
    const sent = await send(server);
    await server.drained();
    await server.close();
    const store = await createStore({ kind: "embedded", dataDir });
    const { tables } = await store.stats();
    for (const { table } of tables) await store.ddl(`OPTIMIZE TABLE ${store.database}.${table} FINAL`);
    const found = await readFound(store);
    await store.close();
    return { sent, found };
  });
}

async function readFound(store: Store): Promise<Found[]> {
  const params = { db: store.database };
  const { tables } = await store.stats();
  const columns = await askStore<{ table: string; column: string; bytes: string }>(store, {
    sql: `SELECT table, column, sum(column_data_compressed_bytes) AS bytes FROM system.parts_columns
      WHERE active AND database = {db:String} GROUP BY table, column ORDER BY bytes DESC`,
    params,
  });
  const indexes = await askStore<{ table: string; bytes: string }>(store, {
    sql: `SELECT table, sum(secondary_indices_compressed_bytes) AS bytes FROM system.parts
      WHERE active AND database = {db:String} GROUP BY table`,
    params,
  });
  const each = (bytes: number, rows: number): string => (bytes / rows).toFixed(2);
  return tables
    .filter(({ bytes }) => bytes > 20_000)
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ table, rows, bytes }) => {
      const own = columns.filter((row) => row.table === table && Number(row.bytes) / rows >= 0.05);
      const index = Number(indexes.find((row) => row.table === table)?.bytes ?? 0);
      const words = own.map((row) => `\`${row.column}\` ${each(Number(row.bytes), rows)}`);
      if (index > 0) words.push(`indexes ${each(index, rows)}`);
      return { table, rows, bytes, most: words.join(", ") };
    });
}

function toLines(found: readonly Found[], units: number, unit: string): string[] {
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    "",
    `**${(total / units).toFixed(1)} bytes a ${unit}.**`,
    "",
    "| table | rows | bytes a row | of which |",
    "| --- | ---: | ---: | --- |",
    ...found.map((one) => `| ${one.table} | ${whole(one.rows)} | ${(one.bytes / one.rows).toFixed(1)} | ${one.most} |`),
  ];
}

const doubles = await measure((server) => sendPoints(server, (_, random) => random() + random() / 2 ** 32));
const curve = await measure((server) =>
  sendPoints(server, (step, random) => Math.fround(4 / Math.sqrt(1 + step / 50) + (random() - 0.5) / 50)),
);
const cirron = await measure(sendSpans);
const { spans: spanRows, marks, snapshots } = cirron.sent;
const page = `# Disk

\`node bench/disk.ts\` on ${describeMachine()}. Everything came through a server and was then merged.

## ${whole(points)} points, random doubles
${toLines(doubles.found, points, "point").join("\n")}

## ${whole(points)} points of loss curves: 32-bit floats, noise of a hundredth
${toLines(curve.found, points, "point").join("\n")}

## ${whole(spanRows)} spans, with ${whole(marks)} marks and ${whole(snapshots)} snapshots
${toLines(cirron.found, spanRows, "span, its share of marks and snapshots included").join("\n")}
`;
await savePage("disk", page);
