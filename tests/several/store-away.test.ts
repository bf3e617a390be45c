// A collector whose ClickHouse server cannot be reached: it accepts on, also of runs that it has never seen, and stores
// them when the server is back.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRun } from "#emit/xtrack.ts";
import { type EmbeddedEngine, startEmbedded } from "#store/embedded.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { eventually, freePort, openTcpDoor, type TcpDoor } from "../support/several.ts";

let dataDir: string;
let engine: EmbeddedEngine;
let port: number;
let door: TcpDoor;
let app: TestApp;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tributary-away-"));
  engine = await startEmbedded({ kind: "embedded", dataDir });
  port = await freePort();
  door = await openTcpDoor(engine.socketPath, port);
  app = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
}, 60_000);
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
}, 60_000);
