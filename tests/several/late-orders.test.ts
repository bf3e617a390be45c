// A collector that was cut off from the bus and from the store for longer than orders are usually looked for.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { suiteFolder } from "../support/folder.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";
import { eventually, freePort, type NatsServer, natsPath, startNats } from "../support/several.ts";
import { openTcpDoor, type TcpDoor } from "../support/tcp-door.ts";

const folder = suiteFolder();
let dataDir: string;
let nats: NatsServer;
let engine: EngineSupervisor;
let door: TcpDoor;
let doorPort: number;
let ownDoor: TcpDoor;
let a: TestApp;
let b: CollectorProcess;

const headers = { "content-type": "application/octet-stream" };
const frames = (from: number, to: number): Buffer =>
  Buffer.concat(
    Array.from({ length: to - from + 1 }, (_, at) => {
      const seq = from + at;
      const meta = { seq, ts: 1794710321102255 + seq, wid: "w" };
      return encodeFrame("metric", meta, { run_id: "late", key: "loss", value: seq, step: seq });
    }),
  );
const send = async (from: number, to: number, query = ""): Promise<Record<string, number>> => {
  const body = new Uint8Array(frames(from, to));
  const answer = await fetch(`${b.url}/v1/xtrack${query}`, { method: "POST", body, headers });
  expect(answer.status).toBe(202);
  return (await answer.json()) as Record<string, number>;
};
const pointsOf = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/api/v1/runs/late/metrics`).catch(() => null);
  const { metrics } = ((await answer?.json()) ?? {}) as { metrics?: { count: number; min: number; max: number }[] };
  const [metric] = metrics ?? [];
  return metric === undefined ? "none" : `${metric.count} of ${metric.min}..${metric.max}`;
};
const countDone = async (): Promise<string | undefined> => {
  const sql = "SELECT count() AS n FROM tributary.deletions FINAL WHERE done = 1";
  return (await askStore<{ n: string }>(a.app.collector.store, { sql }))[0]?.n;
};

describe.skipIf(natsPath === undefined)("a collector that was away for long", () => {
  beforeAll(async () => {
    nats = await startNats();
    dataDir = await makeMigratedFolder("server");
    engine = await startEmbedded({ kind: "embedded", dataDir });
    doorPort = await freePort();
    [door, ownDoor] = [await openTcpDoor(engine.socketPath, doorPort), await openTcpDoor(engine.socketPath)];
    await writeFile(join(folder, "clock"), "0");
    a = await createTestApp({ storeUrl: ownDoor.url, storeGuestUser: "guest", busUrl: nats.url });
    b = await CollectorProcess.make(join(folder, "b"), {
      TRIBUTARY_STORE_URL: door.url,
      TRIBUTARY_STORE_GUEST_USER: "guest",
      TRIBUTARY_BUS_URL: nats.url,
      NODE_OPTIONS: `--import ${join(import.meta.dirname, "../children/set-clock.ts")}`,
      CHAOS_CLOCK: join(folder, "clock"),
    });
    await b.start();
  });
  afterAll(async () => {
    await b?.kill();
    await a?.remove();
    door?.close();
    ownDoor?.close();
    await engine?.close();
    await nats?.kill();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("hears of a deletion of that time, and takes what is sent again", async () => {
    await send(1, 20, "?wait=1");
    await nats.kill();
    door.close();
    // Accepted before the order is known here, and after it was given: it stays.
    const { status } = await fetch(`${a.app.url}/api/v1/runs/late`, { method: "DELETE" });
    expect(status).toBe(200);
    await eventually(async () => (await countDone()) === "1", "the run was not deleted");
    await writeFile(join(folder, "clock"), String(3600));
    await send(21, 30);
    door = await openTcpDoor(engine.socketPath, doorPort);
    for (const url of [a.app.url, b.url])
      await eventually(async () => (await pointsOf(url)) === "10 of 21..30", `${url} does not show what came after`);
    // What was deleted is new when it comes again.
    await eventually(async () => (await send(20, 20))["accepted"] === 1, "it is still taken for a duplicate");
    for (const url of [a.app.url, b.url])
      await eventually(async () => (await pointsOf(url)) === "11 of 20..30", `${url} does not show what came again`);
  });
});
