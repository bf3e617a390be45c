// Deletions on a store that several collectors write to: what an order covers goes, and nothing that was accepted after it,
// whoever hears of it late and whatever the store says meanwhile.

import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import { SharedDeletions } from "#server/peers/deletions.ts";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { makeFolder } from "../support/folder.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";
import { eventually, freePort, type NatsServer, natsPath, startNats } from "../support/several.ts";
import { openStoreDoor, type StoreDoor } from "../support/store-door.ts";

let nats: NatsServer;
let dataDir: string;
let engine: EngineSupervisor;
/** A door to the store for each. */
let doors: readonly [StoreDoor, StoreDoor];
let a: TestApp;
let b: TestApp;

const octets = { "content-type": "application/octet-stream" };

const pointOf = (run: string, seq: number) => ({ run_id: run, key: "loss", value: seq, step: seq });
const send = async (app: TestApp, run: string, from: number, to: number): Promise<Record<string, number>> => {
  const frames = Array.from({ length: to - from + 1 }, (_, at) => {
    const seq = from + at;
    return encodeFrame("metric", { seq, ts: 1794710321102255 + seq, wid: "w" }, pointOf(run, seq));
  });
  const { status, body } = await app.post("/v1/xtrack?wait=1", Buffer.concat(frames), octets);
  expect(status).toBe(202);
  return body as Record<string, number>;
};
/** How many points there are, the least and the greatest: the latter out of the summary. */
const pointsOf = async (app: TestApp, run: string): Promise<string> => {
  const { body } = await app.get(`/api/v1/runs/${run}/metrics`);
  const [metric] = (body as { metrics?: { count: number; min: number; max: number }[] }).metrics ?? [];
  return metric === undefined ? "none" : `${metric.count} of ${metric.min}..${metric.max}`;
};
const remove = async (app: TestApp, run: string) => {
  const { status } = await fetch(`${app.app.url}/api/v1/runs/${run}`, { method: "DELETE" });
  expect(status).toBe(200);
};
const rowsOf = async (run: string) => {
  const sql = `SELECT count() AS n FROM tributary.metrics WHERE group_key = 'default/x/${run}'`;
  return Number((await askStore<{ n: string }>(b.app.collector.store, { sql }))[0]?.n);
};
const bothShow = async (run: string, shown: string) => {
  const found = ["", ""];
  for (const [at, app] of [a, b].entries())
    await eventually(async () => {
      found[at] = await pointsOf(app, run);
      return found[at] === shown;
    }, `${run} is not shown as ${shown}`).catch(() => expect([run, ...found]).toEqual([run, shown, shown]));
};

describe.skipIf(natsPath === undefined)("deletions by orders", () => {
  beforeAll(async () => {
    nats = await startNats();
    dataDir = await makeMigratedFolder("server");
    engine = await startEmbedded({ kind: "embedded", dataDir });
    doors = [await openStoreDoor(engine.socketPath), await openStoreDoor(engine.socketPath)];
    const open = (door: StoreDoor) => createTestApp({ storeUrl: door.url, storeGuestUser: "guest", busUrl: nats.url });
    a = await open(doors[0]);
    b = await open(doors[1]);
  });
  afterAll(async () => {
    await Promise.all([a?.remove(), b?.remove()]);
    await Promise.all(doors?.map((door) => door.close()) ?? []);
    await engine?.close();
    await nats?.kill();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("what another collector accepted before the order goes, and what it accepts after it stays", async () => {
    await send(a, "plain", 1, 10);
    await send(b, "plain", 11, 20);
    await remove(a, "plain");
    expect((await b.get("/api/v1/runs/plain")).status).toBe(404);
    await send(b, "plain", 21, 25);
    await bothShow("plain", "5 of 21..25");
    expect(await rowsOf("plain")).toBe(5);
  });

  test("what another has accepted and could not store yet goes too, also by two orders in a row", async () => {
    await send(a, "unstored", 1, 10);
    doors[1].judge((statement) => (statement.startsWith("INSERT") ? 242 : null));
    const accept = async (from: number) => {
      const meta = { seq: from, ts: 1794710321102255 + from, wid: "w" };
      const frame = encodeFrame("metric", meta, { run_id: "unstored", key: "loss", value: from, step: from });
      expect((await b.post("/v1/xtrack", frame, octets)).status).toBe(202);
    };
    for (let seq = 11; seq <= 20; seq++) await accept(seq);
    await remove(a, "unstored");
    await send(a, "unstored", 21, 22);
    await accept(23);
    await remove(a, "unstored");
    doors[1].judge(() => null);
    await b.app.collector.drained();
    await send(b, "unstored", 24, 25);
    await bothShow("unstored", "2 of 24..25");
    expect(await rowsOf("unstored")).toBe(2);
  });

  test("a part of the run that only another collector has accepted, and not yet stored, goes too", async () => {
    const spans = (id: string) => [{ id, parent: "root-p", name: "step", at: 1 }];
    const post = async (app: TestApp, id: string, query: string) =>
      expect((await app.post(`/v1/runs/parts/traces${query}`, toBatchText(id, spans(id)))).status).toBe(202);
    await post(a, "part-a", "?wait=1");
    // Each is a group that nobody has heard of.
    for (let at = 0; at < 5; at++) await post(b, `part-b${at}`, "");
    await remove(a, "parts");
    await b.app.collector.drained();
    const left = `SELECT count() AS n FROM tributary.spans WHERE startsWith(span_id, '${hex("part-").slice(0, 10)}')`;
    await eventually(
      async () => (await askStore<{ n: string }>(b.app.collector.store, { sql: left }))[0]?.n === "0",
      "parts of the run stay",
    );
    for (const app of [a, b]) expect((await app.get("/api/v1/runs/parts")).status).toBe(404);
  });

  test("what is deleted for its age leaves what came after that time, also in the same run", async () => {
    await send(a, "aged", 1, 10);
    await send(b, "aged", 11, 20);
    const beforeNs = nowNs();
    await send(a, "aged", 21, 25);
    await send(b, "aged", 26, 30);
    const tell = (message: string) => expect.unreachable(message);
    const deletions = new SharedDeletions({ ...a.app.collector, tell }, null);
    const runs = [{ runId: "aged", groupKeys: ["default/x/aged"] }];
    await deletions.order({ workspace: "default", runs, author: "retention", beforeNs });
    await deletions.settle();
    await deletions.close();
    await bothShow("aged", "10 of 21..30");
    expect(await rowsOf("aged")).toBe(10);
  });

  test("a collector that is cut off from the bus reads the order later, and shows what it took meanwhile", async () => {
    await send(b, "cut", 1, 20);
    await nats.kill();
    await eventually(
      async () => ((await b.get("/readyz")).body as { degraded: string[] }).degraded.length === 1,
      "nobody noticed",
    );
    await remove(a, "cut");
    await send(b, "cut", 21, 40);
    await bothShow("cut", "20 of 21..40");
    // What was deleted is new when it comes again, also where it was known.
    await eventually(async () => (await send(b, "cut", 20, 20))["accepted"] === 1, "it is still taken for a duplicate");
    await bothShow("cut", "21 of 20..40");
    await nats.start();
    for (const app of [a, b])
      await eventually(
        async () => ((await app.get("/readyz")).body as { degraded: string[] }).degraded.length === 0,
        "the bus is away",
      );
    await bothShow("cut", "21 of 20..40");
  });

  test("a collector that stalls in a deletion takes nothing that the other accepted after the order", async () => {
    await send(a, "stalled", 1, 10);
    await send(b, "stalled", 11, 20);
    doors[0].judge((statement) => (statement.startsWith("DELETE") ? 341 : null));
    await remove(a, "stalled");
    // The other loses patience, removes the rows itself and goes on.
    const receipt = send(b, "stalled", 21, 30);
    expect(await receipt).toMatchObject({ accepted: 10 });
    await eventually(async () => (await pointsOf(b, "stalled")) === "10 of 21..30", "it did not go on");
    doors[0].judge(() => null);
    await send(b, "stalled", 31, 40);
    await send(a, "stalled", 41, 45);
    await bothShow("stalled", "25 of 21..45");
    expect(await rowsOf("stalled")).toBe(25);
    expect(a.app.collector.applier.state.isLeaving(["default/x/stalled"])).toBe(false);
  });

  test.each([341, 159, 692])("a deletion that the store answers with %i is asked for again", async (code) => {
    const run = `refused-${code}`;
    await send(a, run, 1, 10);
    let left = 3;
    for (const door of doors) door.judge((statement) => (statement.startsWith("DELETE") && left-- > 0 ? code : null));
    await remove(a, run);
    await eventually(async () => (await rowsOf(run)) === 0, "the rows stay");
    expect(left).toBeLessThan(0);
    for (const door of doors) door.judge(() => null);
    await send(a, run, 1, 10);
    await bothShow(run, "10 of 1..10");
  });

  test("a deletion that a collector could not finish is finished when it starts again", async () => {
    await send(a, "left", 1, 10);
    for (const door of doors) door.judge((statement) => (statement.startsWith("DELETE") ? 341 : null));
    await remove(a, "left");
    await a.app.close();
    for (const door of doors) door.judge(() => null);
    await a.reopen();
    await eventually(async () => (await rowsOf("left")) === 0, "the rows stay");
    await send(a, "left", 11, 12);
    await bothShow("left", "2 of 11..12");
  });

  test("a collector ends while a deletion is under way and a record waits for it, and goes on with both when it starts again", async () => {
    const folder = makeFolder();
    const port = await freePort();
    let own = await openStoreDoor(engine.socketPath, port);
    const env = { TRIBUTARY_STORE_URL: own.url, TRIBUTARY_STORE_GUEST_USER: "guest", TRIBUTARY_BUS_URL: nats.url };
    const c = await CollectorProcess.make(folder, env);
    const givenUp = new AbortController();
    const post = (seq: number, search: string, signal: AbortSignal | null = null) => {
      const body = encodeFrame("metric", { seq, ts: 1794710321102255 + seq, wid: "w" }, pointOf("ending", seq));
      return fetch(`${c.url}/v1/xtrack${search}`, { method: "POST", body, headers: octets, signal });
    };
    const answers = async (path: string) =>
      (await fetch(c.url + path, { signal: AbortSignal.timeout(1000) }).catch(() => null)) !== null;
    try {
      await c.start();
      expect((await post(1, "?wait=1")).status).toBe(202);
      for (const door of doors) door.judge((statement) => (statement.startsWith("DELETE") ? 341 : null));
      own.judge((statement) => (statement.startsWith("DELETE") ? "hang" : null));
      expect((await fetch(`${c.url}/api/v1/runs/ending`, { method: "DELETE" })).status).toBe(200);
      await eventually(() => own.seen.some((statement) => statement.startsWith("DELETE")), "nothing is deleted");
      const late = post(2, "", givenUp.signal).catch(() => null);
      await eventually(async () => !(await answers("/readyz?drained=1")), "nothing waits");
      givenUp.abort();
      await late;
      const stopped = c.stop();
      await eventually(async () => !(await answers("/healthz")), "it does not end");
      // What hangs fails now, while the process ends.
      await own.close();
      await stopped;
      own = await openStoreDoor(engine.socketPath, port);
      for (const door of doors) door.judge(() => null);
      await c.start();
      await bothShow("ending", "1 of 2..2");
    } finally {
      for (const door of doors) door.judge(() => null);
      await c.kill();
      await own.close();
    }
  });

  test("a Cirron run that goes on at the other collector keeps its later spans, marks and points", async () => {
    const root = { id: "root", parent: null, name: "cirron.session", at: 0 };
    const step = (at: number) => ({ id: `step${at}`, parent: "root", name: "step", at });
    const post = async (app: TestApp, id: string, spans: Parameters<typeof toBatchText>[1]) =>
      expect((await app.post("/v1/runs/session/traces?wait=1", toBatchText(id, spans))).status).toBe(202);
    await post(a, "one", [root, step(1)]);
    await post(b, "two", [step(2)]);
    await remove(b, "session");
    await post(a, "three", [step(3)]);
    await post(b, "four", [step(4), step(5)]);
    const shown = async (app: TestApp) => {
      const { counts } = (await app.get("/api/v1/runs/session")).body as { counts?: Record<string, number> };
      return `${counts?.["spans"]} ${counts?.["marks"]}`;
    };
    for (const app of [a, b]) await eventually(async () => (await shown(app)) === "3 3", "it has not three spans");
    const { body } = await a.get("/api/v1/runs/session/events?limit=100");
    expect(JSON.stringify(body)).not.toContain(hex("step1"));
    // The first batch is new when it comes again.
    await post(b, "one", [root, step(1)]);
    for (const app of [a, b]) await eventually(async () => (await shown(app)) === "5 5", "it has not five spans");
  });
});
