// A collector whose ClickHouse server cannot be reached: it accepts on, also of runs that it has never seen, and stores
// them when the server is back.

import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRun } from "#emit/xtrack.ts";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";
import { eventually, freePort } from "../support/several.ts";
import { openTcpDoor, type TcpDoor } from "../support/tcp-door.ts";

let dataDir: string;
let engine: EngineSupervisor;
let port: number;
let door: TcpDoor;
let app: TestApp;

beforeAll(async () => {
  dataDir = await makeMigratedFolder("server");
  engine = await startEmbedded({ kind: "embedded", dataDir });
  port = await freePort();
  door = await openTcpDoor(engine.socketPath, port);
  app = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
});
afterAll(async () => {
  await app?.remove();
  door?.close();
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const pointsOf = async (run: string) =>
  ((await app.get(`/api/v1/runs/${run}/metrics`)).body as { metrics?: { count: number }[] }).metrics?.[0]?.count;

function start(id: string) {
  const transport = { kind: "tcp", host: "127.0.0.1", port: Number(app.app.xtrack[0]?.split(":").at(-1)) } as const;
  return startRun({ id, workerId: "w0", transport, source: false, env: false });
}

test("takes what comes while the server is away, of known and of new runs, and stores it once", async () => {
  const known = start("known");
  known.metric("loss", 1, { step: 1 });
  await eventually(async () => (await pointsOf("known")) === 1, "the first point did not come");
  door.close();
  known.metric("loss", 2, { step: 2 });
  const fresh = start("fresh");
  for (let step = 1; step <= 100; step++) fresh.metric("loss", step, { step });
  await fresh.end({ timeoutMs: 10_000 });
  expect(fresh.health).toMatchObject({ dropped: 0 });
  expect((await app.get("/healthz")).status).toBe(200);
  door = await openTcpDoor(engine.socketPath, port);
  await eventually(async () => (await pointsOf("fresh")) === 100, "the new run did not come");
  await eventually(async () => (await pointsOf("known")) === 2, "the known run did not go on");
  await known.end({ timeoutMs: 5000 });
});

test("a start while the server is away takes what comes, with the keys that there are, and stores it when it is back", async () => {
  const adminKey = "away-".padEnd(32, "k");
  const flags = { storeUrl: door.url, storeGuestUser: "guest", authLoopback: "key", adminKey };
  const late = await createTestApp(flags);
  const asAdmin = { "content-type": "application/json", authorization: `Bearer ${adminKey}` };
  const made = await late.post("/api/v1/keys", JSON.stringify({ name: "job", scopes: ["ingest"] }), asAdmin);
  const { key } = made.body as { key: string };
  const post = (at: number, given: string) => {
    const batch = toBatchText(`b${at}`, [{ id: `s${at}`, parent: null, name: "step", at }]);
    const headers = { "content-type": "application/json", authorization: `Bearer ${given}` };
    return late.post("/v1/runs/early/traces", batch, headers);
  };
  expect((await post(0, key)).status).toBe(202);
  await late.app.collector.drained();
  // Something accepted and not stored is left in the folder.
  door.close();
  expect((await post(1, key)).status).toBe(202);
  await late.reopen();
  expect((await post(2, key)).status).toBe(202);
  expect((await post(3, "nobody's-key-nobody's-key-nobody's")).status).toBe(401);
  await eventually(async () => (await late.get("/readyz")).status === 503, "it calls itself ready");
  expect((await late.get("/healthz")).status).toBe(200);
  door = await openTcpDoor(engine.socketPath, port);
  const counted = async () => {
    const answer = await fetch(`${late.app.url}/api/v1/runs/early`, { headers: asAdmin });
    return ((await answer.json()) as { counts?: { spans?: number } }).counts?.spans;
  };
  await eventually(async () => (await counted()) === 3, "what was accepted is not there");
  await eventually(async () => (await late.get("/readyz")).status === 200, "it is not ready again");
  await late.remove();
});

test("with two addresses of a store, one may be away", async () => {
  const other = await openTcpDoor(engine.socketPath);
  const both = await createTestApp({ storeUrl: `${door.url}, ${other.url}`, storeGuestUser: "guest" });
  const post = async (at: number) => {
    const batch = toBatchText(`t${at}`, [{ id: `t${at}`, parent: null, name: "step", at }]);
    expect((await both.post("/v1/runs/either/traces?wait=1", batch)).status).toBe(202);
  };
  await post(0);
  door.close();
  await post(1);
  door = await openTcpDoor(engine.socketPath, port);
  other.close();
  await post(2);
  const { body } = await both.get("/api/v1/runs/either");
  expect(body).toMatchObject({ counts: { spans: 3 } });
  await both.remove();
});
