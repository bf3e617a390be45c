// Runs that several collectors wrote. Each counts the records of its journal for itself, so two records of one run may
// have the same position and row: exports, lists and their cursors have to tell them apart by the collector too.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "#cli/client.ts";
import { importPaths } from "#cli/import/import.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeFolder } from "../support/folder.ts";
import { natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;
let apps: readonly [TestApp, TestApp];
const octets = { "content-type": "application/octet-stream" };
const rounds = 12;

/** Every round gives one record to each collector, so their journals count in step. */
beforeAll(async () => {
  if (natsPath === undefined) return;
  pair = await openPair();
  apps = [pair.a, pair.b];
  const root = { id: "root", parent: null, name: "cirron.session", at: 0 };
  await pair.a.post("/v1/runs/spread/traces?wait=1", toBatchText("first", [root]));
  await pair.b.post("/v1/runs/other/traces?wait=1", toBatchText("other", [{ ...root, id: "elsewhere" }]));
  for (let round = 0; round < rounds; round++)
    for (const [worker, app] of apps.entries()) {
      const span = { id: `s${round}-${worker}`, parent: "root", name: "step", at: 1 + round * 2 + worker };
      const batch = toBatchText(`b${round}-${worker}`, [span]);
      expect((await app.post("/v1/runs/spread/traces?wait=1", batch)).status).toBe(202);
      expect((await app.post("/v1/xtrack?wait=1", framesOf(worker, round), octets)).status).toBe(202);
    }
});
afterAll(() => pair?.remove());

function framesOf(worker: number, round: number): Buffer {
  const at = (seq: number) => ({ seq, ts: 1794710321102255 + seq, wid: `w${worker}` });
  const first = round * 3 + 1;
  return Buffer.concat([
    encodeFrame("metric", at(first), { run_id: "ddp", key: "loss", value: first, step: first }),
    encodeFrame("log", at(first + 1), { run_id: "ddp", level: "INFO", msg: `line ${first} of ${worker}` }),
    encodeFrame("status", at(first + 2), { run_id: "ddp", status: "training" }),
  ]);
}

/** Every page of a list, by its cursors. */
async function pagesOf<T>(app: TestApp, path: string, name: string): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { status, body } = await app.get(`${path}&limit=25${cursor === "" ? "" : `&cursor=${cursor}`}`);
    expect([path, status]).toEqual([path, 200]);
    const page = body as { next: string | null };
    all.push(...((page as unknown as Record<string, T[]>)[name] as T[]));
    cursor = page.next;
  }
  return all;
}

const exportOf = async (app: TestApp, run: string): Promise<string> => {
  const answer = await fetch(`${app.app.url}/api/v1/runs/${run}/export?format=jsonl`);
  expect(answer.status).toBe(200);
  return answer.text();
};

describe.skipIf(natsPath === undefined)("a run that two collectors wrote", () => {
  test.each(["asc", "desc"])("lists every record once, in the order of arrival (%s)", async (order) => {
    for (const app of apps) {
      const events = await pagesOf<{ id: string; received_ns: string; type: string }>(
        app,
        `/api/v1/runs/ddp/events?order=${order}`,
        "events",
      );
      expect(events).toHaveLength(rounds * 2 * 3);
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      const times = events.map(({ received_ns }) => BigInt(received_ns));
      const sorted = times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect(times).toEqual(order === "asc" ? sorted : sorted.toReversed());
    }
  });

  test("lists the spans and marks of all batches", async () => {
    for (const app of apps) {
      const { body } = await app.get("/api/v1/runs/spread/events?limit=1000");
      const { events, types } = body as { events: unknown[]; types: Record<string, number> };
      expect(events).toHaveLength((rounds * 2 + 1) * 2);
      expect(Object.values(types).reduce((sum, count) => sum + count, 0)).toBe(events.length);
    }
  });

  test("lists every log line once", async () => {
    for (const app of apps) {
      const logs = await pagesOf<{ id: string; msg: string }>(app, "/api/v1/runs/ddp/logs?order=asc", "logs");
      expect(new Set(logs.map(({ msg }) => msg)).size).toBe(rounds * 2);
      expect(new Set(logs.map(({ id }) => id)).size).toBe(rounds * 2);
    }
  });

  test("is exported whole, and is the same run where the export is imported", async () => {
    const there = await testApp();
    const folder = makeFolder();
    for (const run of ["ddp", "spread"]) {
      const path = join(folder, `${run}.jsonl`);
      await writeFile(path, await exportOf(apps[0], run));
      const stop = new AbortController().signal;
      const client = createClient(there.app.url, "");
      await importPaths({ client, paths: [path], speed: "instant", follow: false, stop });
    }
    await there.app.collector.drained();
    for (const run of ["ddp", "spread"]) {
      const counts = async (app: TestApp) =>
        ((await app.get(`/api/v1/runs/${run}`)).body as { counts: Record<string, number> }).counts;
      expect(await counts(there)).toEqual(await counts(apps[1]));
    }
    const { body } = await there.get("/api/v1/runs/spread");
    expect(body).toMatchObject({ counts: { spans: rounds * 2 + 1, marks: rounds * 2 + 1 } });
  });
});
