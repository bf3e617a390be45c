// A million events from each of four connections, sent as fast as the kernel takes them by clients that never read.

import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { encode } from "../clients/xtrack-document-client.ts";
import { makeFolder } from "../support/folder.ts";

const server = join(import.meta.dirname, "../children/xtrack-collector.ts");
const connections = 4;
const eventsEach = 1_000_000;

async function flood(port: number, at: number): Promise<void> {
  const socket = connect(port, "127.0.0.1").resume();
  await once(socket, "connect");
  const wid = `w${at}`;
  socket.write(encode({ v: 1, t: "run_start", m: { seq: 1, ts: 1, wid }, p: { run_id: { id: "flood" } } }));
  for (let seq = 2; seq <= eventsEach + 1; ) {
    const frames: Buffer[] = [];
    for (let n = 0; n < 1000 && seq <= eventsEach + 1; n++, seq++) {
      const p = { run_id: "flood", key: "loss", value: 1 / seq, step: seq };
      frames.push(encode({ v: 1, t: "metric", m: { seq, ts: seq, wid }, p }));
    }
    if (!socket.write(Buffer.concat(frames))) await once(socket, "drain");
    // The others get their turn: a connection that says nothing for long is closed.
    await setImmediate();
  }
  socket.end();
  await once(socket, "close");
}

test("a flood of a million events from each of four connections ends with all of them stored", async () => {
  const dataDir = makeFolder();
  const child = fork(server, [dataDir], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  try {
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    await Promise.all(Array.from({ length: connections }, (_, at) => flood(port, at)));
    child.send("drain");
    const [held] = (await once(child, "message")) as [{ n: string; distinct: string; lost: number; rss: number }];
    const total = String(connections * eventsEach);
    expect(held).toMatchObject({ n: total, distinct: total, lost: 0 });
    expect(held.rss).toBeLessThan(1.5 * 1024 ** 3);
    child.send("close");
    await once(child, "exit");
  } finally {
    child.kill("SIGKILL");
  }
}, 600_000);
