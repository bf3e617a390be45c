// A data folder's own store moved to a server, and a lost collector's journal taken in.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { startEmbedded } from "#store/embedded.ts";
import type { EngineSupervisor } from "#store/engine/supervisor.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { suiteFolder } from "../support/folder.ts";
import { startS3 } from "../support/s3-server.ts";
import { openStoreDoor, type StoreDoor } from "../support/store-door.ts";

const fixtures = new URL("../fixtures/", import.meta.url).pathname;
const dataDir = suiteFolder();
let engine: EngineSupervisor;
let door: StoreDoor;

beforeAll(async () => {
  engine = await startEmbedded({ kind: "embedded", dataDir });
  door = await openStoreDoor(engine.socketPath);
});
afterAll(async () => {
  await door?.close();
  await engine?.close();
});

interface Listed {
  readonly runs: readonly { readonly id: string }[];
}

/** Everything that the pages of all runs show, but for what says up to where a server knows. */
async function answersOf(app: TestApp): Promise<unknown> {
  const ask = async (path: string): Promise<unknown> => {
    const text = await (await fetch(`${app.app.url}/api/v1/${path}`)).text();
    return JSON.parse(text, (name, value) => (name === "as_of" || name === "id" ? undefined : value));
  };
  const { runs } = (await app.get("/api/v1/runs?limit=1000")).body as Listed;
  const ids = runs.map(({ id }) => id).sort();
  const answers: unknown[] = [ids];
  for (const id of ids)
    for (const path of ["", "/metrics", "/params", "/events?limit=50", "/logs?limit=50"])
      answers.push([id, path, await ask(`runs/${id}${path}`)]);
  return answers;
}

const paths = ["cirron/torch_full", "xtrack/file_full/events.bin", "semantiva/plain_file"];

/** A data folder with runs of its own, whose server has ended, and what it answered. */
async function makeFolder(): Promise<{ here: TestApp; before: unknown }> {
  const here = await createTestApp();
  const given = paths.map((path) => join(fixtures, path));
  expect((await runInTest(["import", ...given, "--server", here.app.url])).code).toBe(0);
  const headers = { "content-type": "application/json" };
  const kept = { method: "PUT", body: JSON.stringify({ days: 30 }), headers };
  expect((await fetch(`${here.app.url}/api/v1/retention`, kept)).status).toBe(200);
  // Refused, and of no run: every store has such rows.
  expect((await here.post("/v1/traces", "no batch")).status).toBe(400);
  await here.app.collector.drained();
  const before = await answersOf(here);
  await here.app.close();
  return { here, before };
}

const migrateTo = (here: TestApp, world: Parameters<typeof runInTest>[1] = {}) =>
  runInTest(["migrate", "--from", here.dataDir, "--to", door.url], world);

test("migrate copies everything, goes on where it was broken off, and doubles nothing", async () => {
  const { here, before } = await makeFolder();
  let inserts = 0;
  door.judge((statement) =>
    statement.startsWith("INSERT") && !/migrations/.test(statement) && ++inserts > 5 ? 497 : null,
  );
  expect((await migrateTo(here)).code).toBe(3);
  door.judge(() => null);
  const stopped = await migrateTo(here, { stop: AbortSignal.abort() });
  expect([stopped.code, stopped.err]).toEqual([130, expect.stringContaining("go on from here")]);
  const again = await migrateTo(here);
  expect([again.code, again.err]).toEqual([0, ""]);
  expect(again.out).toMatch(/Resuming after \d+ parts/);
  expect(again.out).toContain("both sides are equal");
  // All of it a second time.
  expect((await migrateTo(here)).out).toContain("both sides are equal");
  const there = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
  expect(await answersOf(there)).toEqual(before);
  expect((await there.get("/api/v1/retention")).body).toEqual({ days: 30, set_by: "api" });
  await there.remove();
  await rm(here.dataDir, { recursive: true });
}, 180_000);

test("a folder that was used again is copied again, beside what others have stored there meanwhile", async () => {
  const other = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
  expect((await other.post("/v1/traces", "no batch either")).status).toBe(400);
  await other.app.collector.drained();
  const here = await createTestApp();
  const send = async (from: number, to: number): Promise<void> => {
    const frames = Array.from({ length: to - from + 1 }, (_, at) => {
      const meta = { seq: from + at, ts: 1794710321102255 + from + at, wid: "w" };
      return encodeFrame("metric", meta, { run_id: "grown", key: "loss", value: from + at, step: from + at });
    });
    const headers = { "content-type": "application/octet-stream" };
    expect((await here.post("/v1/xtrack?wait=1", Buffer.concat(frames), headers)).status).toBe(202);
  };
  await send(1, 50);
  expect((await here.post("/v1/traces", "no batch")).status).toBe(400);
  await here.app.close();
  expect(await migrateTo(here)).toMatchObject({ code: 0, err: "" });
  await here.reopen();
  await send(51, 80);
  await here.app.close();
  expect(await migrateTo(here)).toMatchObject({ code: 0, err: "" });
  const { body } = await other.get("/api/v1/runs/grown/metrics");
  expect((body as { metrics: { count: number }[] }).metrics[0]?.count).toBe(80);
  expect(((await other.get("/api/v1/runs/grown/events?limit=500")).body as { events: unknown[] }).events).toHaveLength(
    80,
  );
  await other.remove();
  await rm(here.dataDir, { recursive: true });
}, 180_000);

test("migrate says which blobs stay in the folder, and copies them where there is a bucket", async () => {
  const bucket = await startS3();
  const here = await createTestApp();
  const path = `${here.app.url}/v1/traces/blobs/snapshots/${"ab".repeat(16)}/weights.bin`;
  expect((await fetch(path, { method: "PUT", body: "tensors" })).status).toBe(201);
  await here.app.collector.drained();
  await here.app.close();
  const left = await migrateTo(here);
  expect(left.code).toBe(0);
  expect(left.out).toMatch(/1 blob stays? in \S+blobs: collectors on other folders do not see/);
  expect(left.out).not.toMatch(/Copied .* blob/);
  const env = {
    TRIBUTARY_BLOBS_KIND: "s3",
    TRIBUTARY_BLOBS_ENDPOINT: bucket.url,
    TRIBUTARY_BLOBS_BUCKET: "traces",
    TRIBUTARY_BLOBS_ACCESS_KEY: "key",
    TRIBUTARY_BLOBS_SECRET_KEY: "secret",
  };
  expect((await migrateTo(here, { env })).out).toMatch(/Copied [\d,]+ rows? and 1 blob; both sides are equal/);
  expect([...bucket.objects.values()].map(String)).toEqual(["tensors"]);
  await bucket.close();
  await rm(here.dataDir, { recursive: true });
});

test("migrate and adopt tell a wrong folder and a store that is away, and make nothing", async () => {
  const nowhere = "http://127.0.0.1:1";
  const missing = join(dataDir, "mistyped");
  const adopt = (folder: string, url = door.url) => runInTest(["adopt", folder], { env: { TRIBUTARY_STORE_URL: url } });
  for (const ran of [await runInTest(["migrate", "--from", missing, "--to", door.url]), await adopt(missing)]) {
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining("is not a data folder")]);
    expect(existsSync(missing)).toBe(false);
  }
  const own = await createTestApp();
  await own.app.close();
  expect(await adopt(own.dataDir)).toMatchObject({ code: 2, err: expect.stringContaining("tributary migrate --from") });
  const away = await runInTest(["migrate", "--from", own.dataDir, "--to", nowhere], {
    env: { TRIBUTARY_STORE_CLUSTER: "traces" },
  });
  expect([away.code, away.err]).toEqual([3, expect.stringContaining("no answer from the store")]);
  await rm(own.dataDir, { recursive: true });
  const member = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
  await member.app.close();
  const moved = await runInTest(["migrate", "--from", member.dataDir, "--to", door.url]);
  expect([moved.code, moved.err]).toEqual([2, expect.stringContaining("tributary adopt")]);
  expect(await adopt(member.dataDir, nowhere)).toMatchObject({
    code: 3,
    err: expect.stringContaining("does not answer"),
  });
  await rm(member.dataDir, { recursive: true });
  expect((await runInTest(["adopt", member.dataDir])).err).toContain("Name it with store.url");
});

test("adopt stores what a collector had accepted that is gone, and says what it leaves", async () => {
  const flags = { storeUrl: door.url, storeGuestUser: "guest" };
  const lost = await createTestApp(flags);
  const post = async (at: number) => {
    const batch = toBatchText(`b${at}`, [{ id: `s${at}`, parent: null, name: "step", at }]);
    expect((await lost.post("/v1/runs/orphan/traces", batch)).status).toBe(202);
  };
  await post(0);
  const path = `${lost.app.url}/v1/traces/blobs/snapshots/${"cd".repeat(16)}/weights.bin`;
  expect((await fetch(path, { method: "PUT", body: "tensors" })).status).toBe(201);
  await lost.app.collector.drained();
  door.judge((statement) => (statement.startsWith("INSERT") ? 242 : null));
  await post(1);
  await post(2);
  await lost.app.close();
  door.judge(() => null);
  const adopt = () => runInTest(["adopt", lost.dataDir], { env: { TRIBUTARY_STORE_URL: door.url } });
  const first = await adopt();
  expect(first.out).toMatch(/had accepted \d+ records, all stored now/);
  expect(first.out).not.toContain("may be removed");
  expect([first.code, first.err]).toEqual([1, expect.stringMatching(/files of runs are only in \S+blobs/)]);
  await rm(join(lost.dataDir, "blobs"), { recursive: true });
  const second = await adopt();
  expect([second.code, second.err]).toEqual([0, ""]);
  expect(second.out).toContain("Its folder may be removed.");
  const other = await createTestApp(flags);
  expect((await other.get("/api/v1/runs/orphan")).body).toMatchObject({ counts: { spans: 3 } });
  await other.remove();
  await rm(lost.dataDir, { recursive: true });
});
