// A data folder's own store moved to a server, and a lost collector's journal taken in.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { type EmbeddedEngine, startEmbedded } from "#store/embedded.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { openStoreDoor, type StoreDoor } from "../support/store-door.ts";

const fixtures = new URL("../fixtures/", import.meta.url).pathname;
let dataDir: string;
let engine: EmbeddedEngine;
let door: StoreDoor;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tributary-migrate-"));
  engine = await startEmbedded({ kind: "embedded", dataDir });
  door = await openStoreDoor(engine.socketPath);
}, 60_000);
afterAll(async () => {
  await door?.close();
  await engine?.close();
  await rm(dataDir, { recursive: true, force: true });
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

test("migrate copies everything, goes on where it was broken off, and doubles nothing", async () => {
  const here = await createTestApp();
  const paths = ["cirron/torch_full", "xtrack/file_full/events.bin", "semantiva/plain_file"];
  const given = paths.map((path) => join(fixtures, path));
  expect((await runInTest(["import", ...given, "--server", here.app.url])).code).toBe(0);
  await here.app.collector.drained();
  const before = await answersOf(here);
  await here.app.close();
  const migrate = () => runInTest(["migrate", "--from", here.dataDir, "--to", door.url]);
  let inserts = 0;
  door.judge((statement) =>
    statement.startsWith("INSERT") && !/migrations/.test(statement) && ++inserts > 5 ? 497 : null,
  );
  expect((await migrate()).code).toBe(3);
  door.judge(() => null);
  const again = await migrate();
  expect([again.code, again.err]).toEqual([0, ""]);
  expect(again.out).toMatch(/Goes on after \d+ parts/);
  expect(again.out).toContain("both sides are equal");
  // All of it a second time.
  expect((await migrate()).out).toContain("both sides are equal");
  const there = await createTestApp({ storeUrl: door.url, storeGuestUser: "guest" });
  expect(await answersOf(there)).toEqual(before);
  await there.remove();
  await rm(here.dataDir, { recursive: true });
}, 180_000);

test("adopt stores what a collector had accepted that is gone", async () => {
  const flags = { storeUrl: door.url, storeGuestUser: "guest" };
  const lost = await createTestApp(flags);
  const post = async (at: number) => {
    const batch = toBatchText(`b${at}`, [{ id: `s${at}`, parent: null, name: "step", at }]);
    expect((await lost.post("/v1/runs/orphan/traces", batch)).status).toBe(202);
  };
  await post(0);
  await lost.app.collector.drained();
  door.judge((statement) => (statement.startsWith("INSERT") ? 242 : null));
  await post(1);
  await post(2);
  await lost.app.close();
  door.judge(() => null);
  const adopted = await runInTest(["adopt", lost.dataDir], { env: { TRIBUTARY_STORE_URL: door.url } });
  expect([adopted.code, adopted.err]).toEqual([0, ""]);
  expect(adopted.out).toMatch(/had accepted \d+ records, all stored now/);
  const other = await createTestApp(flags);
  expect((await other.get("/api/v1/runs/orphan")).body).toMatchObject({ counts: { spans: 3 } });
  await other.remove();
  await rm(lost.dataDir, { recursive: true });
  expect((await runInTest(["adopt", lost.dataDir])).code).toBe(2);
}, 120_000);
