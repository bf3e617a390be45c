// Forty workers of one run, each on its own connection, that lose connections, send events again and skip numbers.

import { afterEach, beforeEach, expect, it } from "vitest";
import { summarize } from "#control/book.ts";
import { DocumentClient, type Envelope } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { listenFor, openSmallCollector, rowsOf, type SmallCollector } from "./small-collector.testing.ts";
import type { SocketServer } from "./sockets.ts";

const workers = 40;
const stepsEach = 60;
let dir: string;
let collector: SmallCollector;
let server: SocketServer;

async function start(): Promise<void> {
  collector = await openSmallCollector({ dir });
  server = await listenFor(collector);
}

async function stop(): Promise<void> {
  await server.close();
  await collector.close();
}

beforeEach(async () => {
  dir = makeFolder();
  await start();
});
afterEach(async () => {
  await stop();
});

const connect = (wid: string, firstSeq: number) =>
  DocumentClient.connect(server.address as { host: string; port: number }, {
    runId: "sweep",
    wid,
    accepts: ["ack", "command"],
    firstSeq,
  });

const ackedSeqs = (client: DocumentClient) => new Set(client.acks.map(({ p }) => p["seq"]));

/** Sends until its connection breaks, then sends again on a new one whatever was not acked, and a little more. */
async function work(at: number): Promise<{ expected: Envelope[]; duplicates: number; skipped: number[] }> {
  const wid = `w${at}`;
  const expected: Envelope[] = [];
  const skipped: number[] = [];
  const breaks = new Set([10 + (at % 7), 30 + (at % 11)]);
  let duplicates = 0;
  let client = await connect(wid, 1);
  expected.push(client.runStart());
  for (let step = 1; step <= stepsEach; step++) {
    // An event that the client lost before it could send it: its number is gone.
    if ((step + at) % 23 === 0) skipped.push(client.toEvent("metric", {}).m.seq);
    expected.push(client.metric("loss", 1 / step + at, step));
    if (!breaks.has(step)) continue;
    if (at % 2 === 0) client.socket.resetAndDestroy();
    else await client.end();
    const acked = ackedSeqs(client);
    const next = await connect(wid, client.nextSeq);
    // A worker that resumes sends run_start with its old number and time, as a copy, to ask for acks again.
    const again = [expected[0] as Envelope, ...expected.slice(1).filter(({ m }) => !acked.has(m.seq))];
    const more = expected.slice(-5).filter(({ m }) => acked.has(m.seq));
    for (const event of [...again, ...more]) next.send(event);
    duplicates += more.length;
    client = next;
  }
  const last = client;
  expected.push(last.runEnd());
  await last.until(() => ackedSeqs(last).has(last.nextSeq - 1));
  await last.end();
  return { expected, duplicates, skipped };
}

/** The numbers up to the last one that stand in no sequence range of the worker. */
function missingOf(wid: string, lastSeq: number): number[] {
  const ranges = rowsOf(collector.applied, "seq_ranges").filter(({ worker }) => worker === wid);
  const isSeen = (seq: number) =>
    ranges.some((range) => Number(range["first_seq"]) <= seq && seq <= Number(range["last_seq"]));
  return Array.from({ length: lastSeq }, (_, at) => at + 1).filter((seq) => !isSeen(seq));
}

it("keeps every event of forty workers once, whatever was sent again, and knows what is missing [XT-07, XT-08]", async () => {
  const results = await Promise.all(Array.from({ length: workers }, (_, at) => work(at)));
  const check = (): void => {
    const metrics = rowsOf(collector.applied, "metrics");
    expect(metrics.length).toBe(workers * stepsEach);
    for (const [at, { expected, skipped }] of results.entries()) {
      const mine = metrics.filter(({ worker }) => worker === `w${at}`);
      const sent = expected.filter(({ t }) => t === "metric");
      const bySeq = new Map(mine.map((row) => [Number(row["seq"]), row]));
      expect(sent.map(({ m }) => [bySeq.get(m.seq)?.["value"], bySeq.get(m.seq)?.["step"]])).toEqual(
        sent.map(({ p }) => [p["value"], BigInt(p["step"] as number)]),
      );
      expect(missingOf(`w${at}`, expected.at(-1)?.m.seq as number)).toEqual(skipped);
    }
    const events = rowsOf(collector.applied, "events").map(({ type }) => type);
    expect(events.filter((type) => type === "run_start").length).toBe(workers);
    expect(events.filter((type) => type === "run_end").length).toBe(workers);
    expect(rowsOf(collector.applied, "faults").filter(({ code }) => code !== "xtrack_frame_torn")).toEqual([]);
  };
  check();
  const duplicates = collector.applied.reduce((sum, applied) => sum + applied.duplicates, 0);
  expect(duplicates).toBeGreaterThanOrEqual(results.reduce((sum, result) => sum + result.duplicates, 0));
  expect(collector.intake.presence.count()).toBe(0);
  await stop();
  await start();
  check();
});

it("pauses forty workers with one command, those that reconnect too, and knows when all have obeyed", async () => {
  const clients = await Promise.all(Array.from({ length: workers }, (_, at) => connect(`w${at}`, 1)));
  for (const client of clients) client.runStart();
  await Promise.all(clients.map((client) => client.until(() => client.acks.length === 1)));
  expect(collector.control.accepting("default", "sweep").length).toBe(workers);
  expect(collector.intake.presence.workersOf("default", "sweep").length).toBe(workers);
  // Ten are away when the command is given.
  const away = clients.splice(0, 10);
  await Promise.all(away.map((client) => client.end()));
  await collector.control.post({ workspace: "default", runId: "sweep", type: "pause", author: "ada" });
  const obey = async (client: DocumentClient) => {
    await client.until(() => client.commands.length === 1, "the command");
    client.emit("status", { status: "paused" });
  };
  await Promise.all(clients.map(obey));
  const state = () => summarize(collector.control.list("default", "sweep")[0] as never).state;
  const first = clients[0] as DocumentClient;
  await first.until(() => state() === "delivered", "the delivery");
  const back = await Promise.all(away.map((client, at) => connect(`w${at}`, client.nextSeq)));
  for (const client of back) client.emit("status", { status: "training", accepts: ["command"] });
  for (const client of back) client.emit("ack", { seq: 0, status: "ok" });
  await Promise.all(back.map(obey));
  await first.until(() => state() === "confirmed", "the confirmation of all");
  await stop();
  await start();
  expect(state()).toBe("confirmed");
  for (const client of [...clients, ...back]) client.socket.destroy();
});
