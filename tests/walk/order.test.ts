// The same messages in two orders, one of them with repeats: every answer but those told in order of arrival is equal.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

const spool = join(import.meta.dirname, "../fixtures/cirron/marks/.cirron/spool");
const apps: TestApp[] = [];

const frames = Array.from({ length: 9 }, (_, at) => {
  const seq = at + 1;
  const type = at === 0 ? "run_start" : at % 2 === 0 ? "checkpoint" : "artifact";
  const own = at === 0 ? "" : `,"step":${at},"path":"/p${at}","name":"n${at}","metrics":{"loss":${at}}`;
  const head = `"m":{"seq":${seq},"ts":${1700000000000000 + seq}}`;
  return toFrameOfText(`{"v":1,"t":"${type}",${head},"p":{"run_id":"ordered"${own}}}`);
});
const messages: [path: string, body: Uint8Array][] = [
  ...frames.map((frame): [string, Uint8Array] => ["/v1/xtrack", frame]),
  ...readdirSync(spool)
    .sort()
    .map((name): [string, Uint8Array] => ["/v1/runs/ordered/traces", readFileSync(join(spool, name))]),
];

beforeAll(async () => {
  const orders = [messages, [...messages.toReversed(), ...messages.slice(3, 8)]];
  for (const order of orders) {
    const app = await createTestApp();
    apps.push(app);
    for (const [path, body] of order) expect((await app.post(path, body)).status).toBe(202);
    await app.app.collector.drained();
  }
});
afterAll(() => Promise.all(apps.map((app) => app.remove())));

const forgotten = new Set(["as_of", "received_ns", "updated_ns", "duplicates", "aliases", "arrival_ns"]);

async function read(app: TestApp, path: string): Promise<unknown> {
  const { status, body } = await app.get(`/api/v1/runs/ordered${path}`);
  expect([path, status]).toEqual([path, 200]);
  return JSON.parse(JSON.stringify(body, (name, value) => (forgotten.has(name) ? undefined : value)));
}

test("what is told of a run does not depend on the order in which it came", async () => {
  const [one, other] = apps as [TestApp, TestApp];
  const paths = [
    "",
    "/metrics",
    "/spans",
    "/spans/summary",
    "/spans/flame",
    "/params",
    "/artifacts",
    "/checkpoints",
    "/gaps",
  ];
  for (const path of paths) expect([path, await read(other, path)]).toEqual([path, await read(one, path)]);
});

test("checkpoints go on page by page in the order of their own time", async () => {
  const [, app] = apps as [TestApp, TestApp];
  const steps: string[] = [];
  for (let cursor = ""; ; ) {
    const page = (await app.get(`/api/v1/runs/ordered/checkpoints?limit=3${cursor}`)).body as {
      checkpoints: { step: string }[];
      next: string | null;
    };
    steps.push(...page.checkpoints.map(({ step }) => step));
    if (page.next === null) break;
    cursor = `&cursor=${encodeURIComponent(page.next)}`;
  }
  expect(steps).toEqual(["2", "4", "6", "8"]);
});
