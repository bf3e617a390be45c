// The collector is killed while workers send; they connect again and send what was not acked, as a client that keeps
// its unacked events does. At the end everything is there once.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DocumentClient, type Envelope } from "../clients/xtrack-document-client.ts";
import { makeFolder } from "../support/folder.ts";

const server = join(import.meta.dirname, "../children/xtrack-collector.ts");
const rounds = 3;
const workers = 3;
let dataDir: string;
let child: ChildProcess;

beforeEach(async () => {
  dataDir = makeFolder();
});
afterEach(async () => {
  child.kill("SIGKILL");
});

async function start(): Promise<number> {
  child = fork(server, [dataDir], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return port;
}

interface WorkerState {
  readonly wid: string;
  readonly sent: Envelope[];
  readonly acked: Set<unknown>;
  nextSeq: number;
}

/** Sends again what was not acked, then new events until the collector is gone or enough were acked. */
async function work(port: number, state: WorkerState, acksWanted: number): Promise<void> {
  const { wid, sent, acked } = state;
  const client = await DocumentClient.connect(
    { host: "127.0.0.1", port },
    { runId: "killed", wid, accepts: ["ack"], firstSeq: state.nextSeq },
  );
  if (sent.length === 0) sent.push(client.runStart());
  else for (const event of sent) if (event === sent[0] || !acked.has(event.m.seq)) client.send(event);
  const isOver = () => client.socket.destroyed || acked.size >= acksWanted;
  while (!isOver()) {
    for (let n = 0; n < 20; n++) sent.push(client.metric("loss", sent.length, sent.length));
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (const { p } of client.received.splice(0)) acked.add(p["seq"]);
  }
  state.nextSeq = client.nextSeq;
  if (client.socket.destroyed) return;
  await client.until(() => {
    for (const { p } of client.received.splice(0)) acked.add(p["seq"]);
    return acked.size === sent.length;
  }, "the last acks");
  await client.end();
}

test("what was acked survives a kill, and nothing is there twice", async () => {
  const states = Array.from({ length: workers }, (_, at): WorkerState => {
    return { wid: `w${at}`, sent: [], acked: new Set(), nextSeq: 1 };
  });
  for (let round = 0; round < rounds; round++) {
    const port = await start();
    const before = Math.min(...states.map(({ acked }) => acked.size));
    const working = Promise.all(states.map((state) => work(port, state, Number.POSITIVE_INFINITY)));
    while (states.some(({ acked }) => acked.size < before + 200)) await new Promise((done) => setTimeout(done, 5));
    child.kill("SIGKILL");
    await working;
  }
  const port = await start();
  await Promise.all(states.map((state) => work(port, state, state.sent.length + 100)));
  child.send("drain");
  const [held] = (await once(child, "message")) as [{ n: string; distinct: string }];
  const expected = states.reduce((sum, { sent }) => sum + sent.length - 1, 0);
  expect(held).toMatchObject({ n: String(expected), distinct: String(expected) });
  child.send("close");
  await once(child, "exit");
});

test("what a worker sent is kept when the collector has ended its side too, though it is killed right after", async () => {
  const client = await DocumentClient.connect(
    { host: "127.0.0.1", port: await start() },
    { runId: "ended", wid: "w0" },
  );
  client.runStart();
  for (let step = 1; step <= 5000; step++) client.metric("loss", 1 / step, step);
  await client.end();
  child.kill("SIGKILL");
  await once(child, "exit");
  await start();
  child.send("drain");
  const [held] = (await once(child, "message")) as [{ n: string; distinct: string }];
  expect(held).toMatchObject({ n: "5000", distinct: "5000" });
});
