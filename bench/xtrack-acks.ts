// How long a worker waits for the ack of an event, that is until it is on the disk: alone, and beside 39 others, each
// with one event on its way at a time. A real collector with the real engine.
//
// Usage: node bench/xtrack-acks.ts [--save]

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

const secondsEach = 3;
const server = new URL("../tests/children/xtrack-collector.ts", import.meta.url).pathname;

function encode(event: object): Buffer {
  const json = Buffer.from(JSON.stringify(event));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json]);
}

/** Sends one event after the other, each when the one before was acked; gives the waiting times in ms. */
async function work(port: number, wid: string, untilMs: number): Promise<number[]> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  const waits: number[] = [];
  let held = Buffer.alloc(0);
  const send = (seq: number) => {
    const m = { seq, ts: seq, wid };
    if (seq === 1) socket.write(encode({ v: 1, t: "run_start", m, p: { run_id: "acks", accepts: ["ack"] } }));
    else socket.write(encode({ v: 1, t: "metric", m, p: { run_id: "acks", key: "loss", value: 1 / seq, step: seq } }));
  };
  let seq = 1;
  let sentMs = performance.now();
  send(seq);
  for await (const chunk of socket) {
    held = Buffer.concat([held, chunk as Buffer]);
    if (held.length < 4 || held.length < 4 + held.readUInt32BE(0)) continue;
    held = held.subarray(4 + held.readUInt32BE(0));
    const nowMs = performance.now();
    waits.push(nowMs - sentMs);
    if (nowMs > untilMs) break;
    sentMs = nowMs;
    send(++seq);
  }
  socket.destroy();
  return waits;
}

const load = loadavg()[0]?.toFixed(1);
const dataDir = await mkdtemp(join(tmpdir(), "xtrack-acks-"));
const child = fork(server, [dataDir], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
const [{ port }] = (await once(child, "message")) as [{ port: number }];
await work(port, "warm", performance.now() + 500);
const lines = ["| workers | acks/s | p50 ms | p99 ms |", "| ---: | ---: | ---: | ---: |"];
for (const workers of [1, 40]) {
  const untilMs = performance.now() + secondsEach * 1000;
  const all = await Promise.all(Array.from({ length: workers }, (_, at) => work(port, `${workers}-${at}`, untilMs)));
  const waits = all.flat().sort((a, b) => a - b);
  const at = (share: number) => (waits[Math.floor(waits.length * share)] as number).toFixed(2);
  lines.push(`| ${workers} | ${Math.round(waits.length / secondsEach)} | ${at(0.5)} | ${at(0.99)} |`);
}
child.send("close");
await once(child, "exit");
await rm(dataDir, { recursive: true });
const table = `${lines.join("\n")}\n`;
process.stdout.write(table);
if (process.argv.includes("--save")) {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, ${process.platform}`;
  const head = `# XTrack acks\n\n\`node bench/xtrack-acks.ts\` on ${machine}; workers, collector and engine share it, whose load was ${load} before.\n\n`;
  await writeFile(new URL("results/xtrack-acks.md", import.meta.url), head + table);
}
