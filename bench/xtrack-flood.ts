// Four XTrack connections that send as fast as they can to a real collector with the real engine: how many events a
// second become durable and queryable, and the longest time that a sender met a full socket. The emitter in the field
// sends without waiting and dies of a full socket, so that time is what its training would feel.
//
// Usage: node bench/xtrack-flood.ts [events per connection, 100000] [--save]

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

const connections = 4;
const eventsEach = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 100_000);
const server = new URL("../tests/children/xtrack-collector.ts", import.meta.url).pathname;

function encode(json: string): Buffer {
  const frame = Buffer.allocUnsafe(4 + json.length);
  frame.writeUInt32BE(json.length);
  frame.write(json, 4, "latin1");
  return frame;
}

/** As the Python emitter writes them. */
function toMetric(worker: number, seq: number): Buffer {
  const value = 1 / seq + worker;
  return encode(
    `{"v":1,"t":"metric","m":{"seq":${seq},"ts":${1_700_000_000_000_000 + seq * 50},"wid":"w${worker}"},` +
      `"p":{"run_id":"flood","key":"train/loss","value":${value},"step":${seq},"ctx":{"phase":"train"}}}`,
  );
}

/** Resolves when the collector has ended its side: everything is durable. Gives the longest time with a full socket. */
async function flood(port: number, worker: number): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  let longestMs = 0;
  socket.resume();
  socket.write(encode(`{"v":1,"t":"run_start","m":{"seq":1,"ts":1,"wid":"w${worker}"},"p":{"run_id":{"id":"flood"}}}`));
  for (let seq = 2; seq <= eventsEach + 1; ) {
    const frames: Buffer[] = [];
    for (let n = 0; n < 500 && seq <= eventsEach + 1; n++) frames.push(toMetric(worker, seq++));
    const beganMs = performance.now();
    // What the kernel does not take at once waits in the socket, and the callback comes when it has taken the last byte.
    const taken = new Promise((resolve) => socket.write(Buffer.concat(frames), resolve));
    const isFull = socket.writableLength > 0;
    await taken;
    if (isFull) longestMs = Math.max(longestMs, performance.now() - beganMs);
  }
  socket.end();
  await once(socket, "close");
  return longestMs;
}

const load = loadavg()[0]?.toFixed(1);
const dataDir = await mkdtemp(join(tmpdir(), "xtrack-flood-"));
const child = fork(server, [dataDir], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
const [{ port }] = (await once(child, "message")) as [{ port: number }];
const startMs = performance.now();
const blocked = await Promise.all(Array.from({ length: connections }, (_, worker) => flood(port, worker)));
const durableS = (performance.now() - startMs) / 1000;
child.send("drain");
const [held] = (await once(child, "message")) as [{ n: string; distinct: string; lost: number; rss: number }];
const queryableS = (performance.now() - startMs) / 1000;
child.send("close");
await once(child, "exit");
await rm(dataDir, { recursive: true });

const total = connections * eventsEach;
const rate = (seconds: number) => Math.round(total / seconds).toLocaleString("en");
const lines = [
  `| ${connections} connections × ${eventsEach.toLocaleString("en")} metric events | |`,
  "| --- | ---: |",
  `| stored, of ${total.toLocaleString("en")} sent | ${Number(held.n).toLocaleString("en")} |`,
  `| stored twice or lost | ${Number(held.n) - Number(held.distinct)}, ${total - Number(held.distinct)} |`,
  `| durable events/s | ${rate(durableS)} |`,
  `| queryable events/s | ${rate(queryableS)} |`,
  `| longest time a sender waited, ms | ${Math.max(...blocked).toFixed(0)} |`,
  `| memory of the collector at the end, MiB | ${Math.round(held.rss / 1024 / 1024)} |`,
];
const table = `${lines.join("\n")}\n`;
process.stdout.write(table);
if (process.argv.includes("--save")) {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, ${process.platform}`;
  const head = `# XTrack flood\n\n\`node bench/xtrack-flood.ts ${eventsEach}\` on ${machine}; senders, collector and engine share it, whose load was ${load} before.\n\n`;
  await writeFile(new URL("results/xtrack-flood.md", import.meta.url), head + table);
}
