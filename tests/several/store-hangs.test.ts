// A ClickHouse server that takes connections and does not answer: it is noticed, input is accepted on, and the process ends
// in time.

import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";
import { eventually, freePort } from "../support/several.ts";
import { openStoreDoor, type StoreDoor } from "../support/store-door.ts";

let dataDir: string;
let engine: EngineSupervisor;
let port: number;
let door: StoreDoor;
let app: TestApp;

beforeAll(async () => {
  dataDir = await makeMigratedFolder("server");
  engine = await startEmbedded({ kind: "embedded", dataDir });
  port = await freePort();
  door = await openStoreDoor(engine.socketPath, port);
  app = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
});
afterAll(async () => {
  await app?.remove();
  await door?.close();
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const post = async (at: number) => {
  const batch = toBatchText(`b${at}`, [{ id: `s${at}`, parent: null, name: "step", at }]);
  expect((await app.post("/v1/runs/patient/traces", batch)).status).toBe(202);
};
const lagSeconds = async () => {
  const text = await (await fetch(`${app.app.url}/metrics`)).text();
  return Number(/^tributary_journal_lag_seconds (\S+)/m.exec(text)?.[1]);
};

test("a store that hangs is told by readiness and by the lag, and what is accepted meanwhile is stored once", async () => {
  await post(0);
  await app.app.collector.drained();
  door.judge(() => "hang");
  await post(1);
  await eventually(async () => (await app.get("/readyz")).status === 503, "it still calls itself ready");
  const { body } = await app.get("/readyz");
  expect(JSON.stringify(body)).toContain("The store does not answer");
  await eventually(async () => (await lagSeconds()) > 1, "the lag does not grow");
  await post(2);
  // Connections that hang end with the door.
  await door.close();
  door = await openStoreDoor(engine.socketPath, port);
  const spans = async () =>
    ((await app.get("/api/v1/runs/patient")).body as { counts?: { spans?: number } }).counts?.spans;
  await eventually(async () => (await spans()) === 3, "what was accepted is not there");
  await eventually(async () => (await app.get("/readyz")).status === 200, "it is not ready again");
});

test("a process ends while the store hangs, and its next start stores what it had accepted", async () => {
  door.judge(() => "hang");
  await post(3);
  // Longer than the ten seconds that it has, and far shorter than a store may be silent.
  await expect(Promise.race([app.app.close().then(() => "ended"), after(20_000)])).resolves.toBe("ended");
  await door.close();
  door = await openStoreDoor(engine.socketPath, port);
  await app.reopen();
  const { body } = await app.get("/api/v1/runs/patient");
  expect(body).toMatchObject({ counts: { spans: 4 } });
});

test.each([
  ["from the beginning", "first", () => true],
  ["after its first answers", "then", (statement: string) => statement.includes("joins")],
  ["in the middle of what it began to store", "middle", (statement: string) => statement.startsWith("INSERT")],
])("a start does not wait for a store that hangs %s: it accepts, and stores when it answers", async (_, run, hangs) => {
  const send = async (at: number) => {
    const batch = toBatchText(`${run}${at}`, [{ id: `${run}${at}`, parent: null, name: "step", at }]);
    expect((await app.post(`/v1/runs/${run}/traces`, batch)).status).toBe(202);
  };
  door.judge((statement) => (statement.startsWith("INSERT") ? "hang" : null));
  await send(0);
  await app.app.close();
  await door.close();
  door = await openStoreDoor(engine.socketPath, port);
  door.judge((statement) => (hangs(statement) ? "hang" : null));
  await app.reopen();
  await send(1);
  await door.close();
  door = await openStoreDoor(engine.socketPath, port);
  const spans = async () =>
    ((await app.get(`/api/v1/runs/${run}`)).body as { counts?: { spans?: number } }).counts?.spans;
  await eventually(async () => (await spans()) === 2, "what was accepted is not there");
});

test("a plan whose answer was lost is shown once, also when the store has forgotten its tokens", async () => {
  const frames = Array.from({ length: 100 }, (_, at) =>
    encodeFrame(
      "metric",
      { seq: at + 1, ts: 1794710321102255 + at, wid: "w" },
      { run_id: "lost", key: "loss", value: at, step: at },
    ),
  );
  door.judge((statement) => (statement.includes(".metrics ") ? "mute" : null));
  const octets = { "content-type": "application/octet-stream" };
  expect((await app.post("/v1/xtrack", Buffer.concat(frames), octets)).status).toBe(202);
  await eventually(() => door.seen.some((statement) => statement.includes(".metrics ")), "nothing was sent");
  await app.app.close();
  await door.close();
  door = await openStoreDoor(engine.socketPath, port);
  const rows = async (): Promise<string | undefined> => {
    const store = await createStore({
      kind: "server",
      url: door.url,
      user: "default",
      password: "",
      database: "tributary",
    });
    const sql = "SELECT count() AS n FROM tributary.metrics WHERE group_key = 'default/x/lost'";
    const [row] = await askStore<{ n: string }>(store, { sql });
    // As if others had inserted ten thousand blocks since.
    await store.ddl("ALTER TABLE tributary.metrics MODIFY SETTING non_replicated_deduplication_window = 0");
    await store.close();
    return row?.n;
  };
  await eventually(async () => (await rows()) === "100", "the rows are not there");
  await app.reopen();
  const { body } = await app.get("/api/v1/runs/lost/metrics");
  expect((body as { metrics: { count: number }[] }).metrics[0]?.count).toBe(100);
});

function after(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, ms, "still there").unref());
}
