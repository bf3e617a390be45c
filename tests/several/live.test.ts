// Live events, commands and keys across collectors that share a store and a bus.

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { LiveEvent } from "#api/contract/live.ts";
import { readEvents } from "#api/server-events.ts";
import { type Run, startRun } from "#emit/xtrack.ts";
import { parsePositions } from "#model/positions.ts";
import { hashKey } from "#server/http/keys.ts";
import { findLogin } from "#server/http/login.ts";
import { readSealSecret } from "#server/http/owner-secret.ts";
import type { StoredKey } from "#server/http/ports.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import type { TestApp } from "../support/app.ts";
import { eventually, type NatsServer, natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;
let nats: NatsServer;
let a: TestApp;
let b: TestApp;
/** Who listens at `b` when nobody watches. */
let listeners: number;
const adminKey = "trib_a-key-that-is-in-the-settings-of-both";
const runs: Run[] = [];
const streams: AbortController[] = [];

function start(app: TestApp, id: string, workerId: string): Run {
  const port = Number(app.app.xtrack[0]?.split(":").at(-1));
  const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
  const run = startRun({ id, workerId, transport, source: false, env: false });
  runs.push(run);
  return run;
}

/** The live stream of one collector, gathered as it comes. */
async function watch(app: TestApp, query: string): Promise<LiveEvent[]> {
  const stop = new AbortController();
  streams.push(stop);
  const response = await fetch(`${app.app.url}/api/v1/live${query}`, { signal: stop.signal });
  const events: LiveEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of readEvents(response)) if (event.name !== "stats") events.push(event);
  };
  read().catch(() => undefined);
  await eventually(() => events.length > 0, "the stream did not begin");
  return events;
}

const post = async (app: TestApp, run: string, seq: number): Promise<void> => {
  const frame = encodeFrame("metric", { seq, ts: seq, wid: "w" }, { run_id: run, key: "loss", value: seq, step: seq });
  const octets = { "content-type": "application/octet-stream" };
  expect((await app.post("/v1/xtrack?wait=1", frame, octets)).status).toBe(202);
};
const points = (events: readonly LiveEvent[], key: string): (number | string | null)[] =>
  events.flatMap((event) => (event.name === "metrics" && event.data.key.includes(key) ? event.data.value : []));
const lastOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}/metrics`)).body as { metrics?: { last: number }[] }).metrics?.[0]?.last;
/** Resolves when `a` has heard how far `b` is: whoever subscribes at `a` then goes on from there. */
async function heardOf(run: string): Promise<void> {
  const applied = async (app: TestApp) => {
    const { as_of: asOf } = (await app.get(`/api/v1/runs/${run}`)).body as { as_of?: string };
    return parsePositions(asOf ?? "").get(b.app.collector.id) ?? -1;
  };
  const last = await applied(b);
  await eventually(async () => (await applied(a)) >= last, "a does not know how far b is");
}
/** A name that no other try of the same test has used: rows that come again are not told again. */
const fresh = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;
const degraded = async (app: TestApp) => ((await app.get("/readyz")).body as { degraded: string[] }).degraded;

describe.skipIf(natsPath === undefined)("two collectors on one bus", () => {
  beforeAll(async () => {
    pair = await openPair({ adminKey, loginSecret: "the-same-at-all-of-them-and-long-enough" });
    ({ nats, a, b } = pair);
    listeners = b.app.collector.hub.subscriberCount;
  });
  afterEach(async () => {
    for (const stop of streams.splice(0)) stop.abort();
    await Promise.all(runs.splice(0).map((run) => run.end({ timeoutMs: 3000 })));
  });
  afterAll(() => pair?.remove());

  test("a subscriber of one gets the rows of both, each once, with the positions of both", async () => {
    const [here, there] = [start(a, "both", "w0"), start(b, "both", "w1")];
    const events = await watch(a, "?run=both");
    for (let step = 1; step <= 20; step++) {
      here.metric("loss", step, { step });
      there.metric("loss", 100 + step, { step });
    }
    await eventually(() => points(events, "loss").length >= 40, "the points did not come");
    const expected = Array.from({ length: 20 }, (_, i) => [i + 1, 101 + i]).flat();
    expect(points(events, "loss").sort((x, y) => Number(x) - Number(y))).toEqual(expected.sort((x, y) => x - y));
    const ids = [a.app.collector.id, b.app.collector.id].sort();
    expect([...parsePositions(events.at(-1)?.id ?? "").keys()].sort()).toEqual(ids);
    expect(events[0]).toMatchObject({ name: "hello" });
  });

  test("query, then subscribe at the other collector, misses nothing", async () => {
    const there = start(b, "after", "w1");
    there.metric("loss", 1, { step: 1 });
    await eventually(async () => (await a.get("/api/v1/runs/after")).status === 200, "the run did not come");
    const { as_of: asOf } = (await a.get("/api/v1/runs/after")).body as { as_of: string };
    there.metric("loss", 2, { step: 2 });
    await eventually(async () => (await lastOf(b, "after")) === 2, "the second point is not stored");
    const events = await watch(a, `?run=after&after=${encodeURIComponent(asOf)}`);
    await eventually(() => points(events, "loss").includes(2), "the second point did not come");
  });

  test("rows cross the bus for as long as somebody at the other collector wants them", async () => {
    const { hub } = b.app.collector;
    await eventually(() => hub.subscriberCount === listeners, "b still passes on what somebody wanted before");
    const run = fresh("wanted");
    await post(b, run, 1);
    await heardOf(run);
    const events = await watch(a, `?run=${run}`);
    await eventually(() => hub.subscriberCount === listeners + 1, "b does not know that somebody wants them");
    await post(b, run, 2);
    await eventually(() => points(events, "loss").includes(2), "the point did not come");
    // What came before the page did is not live.
    expect(points(events, "loss")).toEqual([2]);
    for (const stop of streams.splice(0)) stop.abort();
    await eventually(() => hub.subscriberCount === listeners, "b still passes them on");
  });

  test("whoever watches goes on when the other collector was started again", async () => {
    const run = fresh("restarted");
    await post(b, run, 1);
    await heardOf(run);
    const events = await watch(a, `?run=${run}`);
    await eventually(() => b.app.collector.hub.subscriberCount > 0, "b does not know that somebody wants them");
    await b.reopen();
    await eventually(() => b.app.collector.hub.subscriberCount > 0, "b was not asked again");
    await post(b, run, 2);
    await eventually(() => points(events, "loss").includes(2), "the point did not come");
    expect(points(events, "loss")).toEqual([2]);
  });

  test("a command goes to the worker at the other collector once, and both tell its state", async () => {
    const commands: string[] = [];
    const worker = start(b, "steered", "w0");
    worker.on("checkpoint_now", ({ type }) => {
      commands.push(type);
    });
    worker.metric("loss", 1, { step: 1 });
    const commandsOf = async (app: TestApp) =>
      (await app.get("/api/v1/runs/steered/commands")).body as { accepting: string[]; commands: { state: string }[] };
    await eventually(async () => (await commandsOf(a)).accepting?.includes("w0"), "a does not know the worker");
    const sent = await a.post("/api/v1/runs/steered/commands", JSON.stringify({ type: "checkpoint_now" }));
    expect(sent.status).toBe(202);
    for (const app of [a, b])
      await eventually(async () => (await commandsOf(app)).commands[0]?.state === "confirmed", "it is not confirmed");
    expect(commands).toEqual(["checkpoint_now"]);
  });

  test("runs joined at one are one at the other, live and for commands, until they are parted there", async () => {
    const heard: string[] = [];
    const [here, there] = [start(a, "left", "w0"), start(b, "right", "w1")];
    for (const [worker, run] of [
      ["w0", here],
      ["w1", there],
    ] as const)
      run.on("checkpoint_now", () => void heard.push(worker));
    here.metric("loss", 1, { step: 1 });
    there.metric("norm", 1, { step: 1 });
    for (const run of ["left", "right"])
      await eventually(async () => (await a.get(`/api/v1/runs/${run}`)).status === 200, "the runs did not come");
    expect((await a.post("/api/v1/runs/left/join", JSON.stringify({ ids: ["right"] }))).status).toBe(200);
    expect((await b.get("/api/v1/runs/right")).body).toMatchObject({ id: "left", joined: [{ id: "right" }] });

    // What b applies is told under the joined run once news of the join has come to it.
    const events = await watch(a, "?run=left");
    let step = 1;
    await eventually(() => {
      there.metric("norm", ++step, { step });
      return points(events, "norm").length > 0;
    }, "the points of the part did not come");

    type Commands = { accepting: string[]; commands: { run: string; state: string }[] };
    const commandsOf = async () => (await a.get("/api/v1/runs/left/commands")).body as Commands;
    await eventually(async () => (await commandsOf()).accepting.length === 2, "a does not know both workers");
    await a.post("/api/v1/runs/left/commands", JSON.stringify({ type: "checkpoint_now" }));
    await eventually(
      async () => (await commandsOf()).commands.filter(({ state }) => state === "confirmed").length === 2,
      "not both are confirmed",
    );
    expect(heard.toSorted()).toEqual(["w0", "w1"]);

    expect((await b.post("/api/v1/runs/right/part", "{}")).status).toBe(200);
    for (const app of [a, b]) expect((await app.get("/api/v1/runs/right")).body).toMatchObject({ id: "right" });
  });

  test("a key made at one is valid at the other, and so is its end", async () => {
    const secret = async () => {
      const { body } = await a.post("/api/v1/keys", JSON.stringify({ name: "ci", scopes: ["read"] }));
      return body as { id: string; key: string };
    };
    const { id, key } = await secret();
    const status = async () =>
      (await fetch(`${b.app.url}/api/v1/runs`, { headers: { authorization: `Bearer ${key}` } })).status;
    await eventually(async () => (await status()) === 200, "the key is not known");
    const stream = await fetch(`${b.app.url}/api/v1/live`, { headers: { authorization: `Bearer ${key}` } });
    expect(stream.status).toBe(200);
    await fetch(`${a.app.url}/api/v1/keys/${id}`, { method: "DELETE" });
    await eventually(async () => (await status()) === 401, "the key is still known");
    // What it had opened at the other ends too; it would go on for as long as somebody reads.
    await stream.text().catch(() => "cut off");
  });

  test("the key of the settings and a browser's login hold at both", async () => {
    const answer = await fetch(`${a.app.url}/api/v1/session`, {
      method: "POST",
      body: JSON.stringify({ key: adminKey }),
      headers: { "content-type": "application/json" },
    });
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    const value = cookie.slice(cookie.indexOf("=") + 1);
    for (const { dataDir } of [a, b]) {
      const sealed = readSealSecret(dataDir, "login", "the-same-at-all-of-them-and-long-enough");
      const keys = [{ id: "settings", sha256: hashKey(adminKey) }] as unknown as StoredKey[];
      expect(findLogin(value, keys, Date.now(), sealed)?.id).toBe("settings");
    }
    const statuses = [adminKey, "trib_wrong"].map(
      async (key) => (await fetch(`${b.app.url}/api/v1/runs`, { headers: { authorization: `Bearer ${key}` } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 401]);
  });

  test("the bus is killed: ingest goes on, health says so, and what was missed comes when it is back", async () => {
    const there = start(b, "outage", "w0");
    there.metric("loss", 1, { step: 1 });
    const events = await watch(a, "?run=outage");
    await eventually(async () => {
      there.metric("loss", 2, { step: 2 });
      return points(events, "loss").includes(2);
    }, "the feed is not open");
    await nats.kill();
    for (const app of [a, b]) await eventually(async () => (await degraded(app)).length === 1, "nobody noticed");
    expect((await a.get("/readyz")).status).toBe(200);
    there.metric("loss", 3, { step: 3 });
    await eventually(async () => (await lastOf(b, "outage")) === 3, "ingest stopped");
    expect(events.some(({ name }) => name === "skipped")).toBe(true);
    await nats.start();
    for (const app of [a, b]) await eventually(async () => (await degraded(app)).length === 0, "it is not back");
    await eventually(() => points(events, "loss").includes(3), "what was missed did not come");
    there.metric("loss", 4, { step: 4 });
    await eventually(() => points(events, "loss").includes(4), "the feed is not open again");
    expect(points(events, "loss").filter((value) => value === 3)).toEqual([3]);
  });
});
