// Records that cannot be applied, among good ones of all protocols, in a server that works: they are set aside, everything
// else is stored exactly once, and the state that they half changed is as if they had never come.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { writeBackup } from "#archive/backup.ts";
import { restoreBackup } from "#archive/restore-backup.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import type { Input } from "#intake/input.ts";
import type { Batch } from "#model/batch.ts";
import type { BlockMaker } from "#store/writer/writer.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";

let walk: TestApp;
beforeEach(async () => {
  walk = await testApp();
});
afterEach(() => void vi.restoreAllMocks());

const octets = { "content-type": "application/octet-stream" };

/** A fault of ours that shows only after the record has changed the state, at every try. */
function breakAt(isPoison: (body: string) => boolean): void {
  const { applier } = walk.app.collector;
  const apply = applier.apply.bind(applier);
  vi.spyOn(applier, "apply").mockImplementation((position, input: Input, decoded) => {
    const applied = apply(position, input, decoded);
    if (isPoison(Buffer.from(input.body).toString("latin1"))) throw new RangeError("a bug of ours");
    return applied;
  });
}

function metrics(seqs: readonly number[], key = "loss"): Buffer {
  const payload = (seq: number) => ({ run_id: "r", key, value: seq, step: seq });
  return Buffer.concat(
    seqs.map((seq) => toFrame({ type: "metric", seq, ts: 1000 + seq, wid: "w0", payload: payload(seq) })),
  );
}

const sendFrames = (body: Buffer) => walk.post("/v1/xtrack?wait=1", body, octets);
const sendBatch = (body: string) => walk.post("/v1/traces?wait=1", body);
const poisonLine = '{"record_type":"poison"}';

async function values(sql: string): Promise<unknown[]> {
  const rows = await askStore<{ v: unknown }>(walk.app.collector.store, { sql });
  return rows.map(({ v }) => v);
}

const storedSeqs = () =>
  values("SELECT toString(seq) AS v FROM tributary.metrics WHERE source = 'xtrack' ORDER BY seq");
const storedSpans = () => values("SELECT name AS v FROM tributary.spans ORDER BY name");

async function sendAmongGoodOnes(): Promise<number[]> {
  const span = (id: string, parent: string | null, name: string, at: number) => ({ id, parent, name, at });
  const lines = readFileSync(new URL("../fixtures/semantiva/plain_file/trace.ser.jsonl", import.meta.url), "utf8");
  const answers = await Promise.all([
    sendFrames(metrics([1, 2, 3])),
    sendBatch(toBatchText("b1", [span("root", null, "root", 1)])),
    sendFrames(metrics([4, 5], "poison")),
    walk.post("/v1/trace-stream?wait=1", lines),
    sendBatch(toBatchText("b2", [span("bad", "root", "poison", 2)])),
    sendFrames(metrics([6, 7])),
    walk.post("/v1/trace-stream?wait=1", `${poisonLine}\n`),
    sendBatch(toBatchText("b3", [span("child", "root", "child", 3)])),
    sendFrames(metrics([1, 2, 3])),
  ]);
  return answers.map(({ status }) => status);
}

test("a record that throws is set aside and tells so, and the server goes on with all others", async () => {
  breakAt((body) => body.includes("poison"));
  expect(await sendAmongGoodOnes()).toEqual(Array(9).fill(202));
  expect(await storedSeqs()).toEqual(["1", "2", "3", "6", "7"]);
  expect(await storedSpans()).toEqual(["child", "root"]);
  const [lines] = await values("SELECT toUInt32(count()) AS v FROM tributary.events WHERE protocol = 'semantiva'");
  const [distinct] = await values(
    "SELECT toUInt32(uniqExact(event_id)) AS v FROM tributary.events WHERE protocol = 'semantiva'",
  );
  expect(lines).toBe(distinct);
  expect(lines).toBeGreaterThan(1);

  const ready = await walk.get("/readyz?drained=1");
  expect(ready).toMatchObject({ status: 200, body: { ready: true, problems: [] } });
  expect((ready.body as { degraded: string[] }).degraded[0]).toContain("3 accepted records could not be applied");
  const { body } = await walk.get("/api/v1/set-aside");
  expect(body).toMatchObject({ records: Array(3).fill({ tries: 2, reason: "RangeError: a bug of ours" }) });
  const told = (await walk.get("/api/v1/faults?code=record_set_aside")).body as { faults: { protocol: string }[] };
  expect(told.faults.map(({ protocol }) => protocol).sort()).toEqual(["cirron", "semantiva", "xtrack"]);
  const text = await (await fetch(`${walk.app.url}/metrics`)).text();
  expect(text).toContain("tributary_set_aside_records 3");
});

test("what is set aside is new when it is tried again, because nothing of it stayed in memory", async () => {
  breakAt((body) => body.includes("poison"));
  await sendAmongGoodOnes();
  // On a busy machine an answer may come before what it waits for.
  await walk.get("/readyz?drained=1");
  vi.restoreAllMocks();
  const retried = await walk.post("/api/v1/set-aside/retry", "{}");
  expect(retried).toMatchObject({ status: 200, body: { tried: 3, left: 0 } });
  const { code, err } = await runInTest(["aside", "retry", "999", "--server", walk.app.url]);
  expect([code, err]).toEqual([1, expect.stringContaining("Not set aside: 1 of these positions.")]);
  await walk.get("/readyz?drained=1");
  expect(await storedSeqs()).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
  expect(await storedSpans()).toEqual(["child", "poison", "root"]);
  const [runs] = await values(
    "SELECT toUInt32(uniqExact(run_id)) AS v FROM tributary.groups FINAL WHERE protocol = 'cirron'",
  );
  expect(runs).toBe(1);
  expect((await sendFrames(metrics([4, 5]))).body).toMatchObject({ accepted: 0, duplicates: 2 });
});

test("a restart neither tries what is set aside nor loses what came behind it", async () => {
  breakAt((body) => body.includes("poison"));
  await sendAmongGoodOnes();
  vi.restoreAllMocks();
  await walk.reopen();
  await walk.get("/readyz?drained=1");
  expect(await storedSeqs()).toEqual(["1", "2", "3", "6", "7"]);
  expect(walk.app.collector.setAside.list()).toHaveLength(3);
  expect((await sendFrames(metrics([6, 7, 8]))).body).toMatchObject({ accepted: 1, duplicates: 2 });
});

test("a record that fails once, for the state it met, is applied at the second try", async () => {
  let left = 1;
  breakAt((body) => body.includes("poison") && left-- > 0);
  expect((await sendFrames(metrics([1, 2], "poison"))).body).toMatchObject({ accepted: 2, duplicates: 0 });
  expect(await storedSeqs()).toEqual(["1", "2"]);
  expect(walk.app.collector.setAside.list()).toEqual([]);
});

test("whoever asks for a change that cannot be applied is told, and the server goes on", async () => {
  breakAt((body) => body.includes("poison"));
  await sendFrames(metrics([1]));
  const edit = (notes: string) =>
    fetch(`${walk.app.url}/api/v1/runs/r`, {
      method: "PATCH",
      body: JSON.stringify({ notes }),
      headers: { "content-type": "application/json" },
    });
  expect((await edit("poison")).status).toBe(500);
  expect((await edit("fine")).status).toBe(200);
  const told = (await walk.get("/api/v1/faults?code=record_set_aside")).body as { faults: { raw_bytes: number }[] };
  expect(told.faults).toMatchObject([{ raw_bytes: 0 }]);
});

test("a listener that throws stops neither the record nor those behind it", async () => {
  walk.app.collector.onApplied(() => {
    throw new Error("cannot follow");
  });
  expect((await sendFrames(metrics([1, 2]))).status).toBe(202);
  expect(await storedSeqs()).toEqual(["1", "2"]);
});

test("a record whose rows cannot become a block is set aside, its neighbours are stored, and it can be tried again", async () => {
  const { collector } = walk.app;
  const { maker } = collector.writer as unknown as { maker: BlockMaker };
  const encode = maker.encode.bind(maker);
  const broken = vi.spyOn(maker, "encode").mockImplementation(async (batches) => {
    const isPoison = ({ parts }: Batch) =>
      parts.some(({ table, rows }) => table === "spans" && rows.name.keys.includes("poison"));
    if (batches.some(isPoison)) throw new RangeError("a bug of ours");
    return encode(batches);
  });
  const span = (id: string, name: string) => [{ id, parent: null, name, at: 1 }];
  // One after the other: what is durable together is told together, and would be left out together.
  for (const [id, name] of [
    ["s1", "good"],
    ["s2", "poison"],
    ["s3", "better"],
  ] as const)
    expect((await walk.post("/v1/traces", toBatchText(id, span(id, name)))).status).toBe(202);
  await collector.drained();
  expect(await storedSpans()).toEqual(["better", "good"]);
  expect((await walk.get("/api/v1/set-aside")).body).toMatchObject({
    records: [{ reason: "RangeError: a bug of ours" }],
  });
  const told = (await walk.get("/api/v1/faults?code=record_set_aside")).body as { faults: object[] };
  expect(told.faults).toMatchObject([{ protocol: "cirron" }]);
  expect((await walk.get("/readyz?drained=1")).body).toMatchObject({ ready: true, problems: [] });
  broken.mockRestore();
  expect(await collector.retryAside(null)).toBe(1);
  await collector.drained();
  expect(await storedSpans()).toEqual(["better", "good", "poison"]);
  expect(collector.setAside.list()).toEqual([]);
});

test("a backup takes along what is set aside, and where it is restored it can be tried again", async () => {
  breakAt((body) => body.includes("poison"));
  await sendFrames(metrics([1, 2]));
  await sendFrames(metrics([3], "poison"));
  const archive: Uint8Array[] = [];
  for await (const chunk of writeBackup(walk.app.collector, walk.dataDir)) archive.push(chunk);
  const file = join(walk.dataDir, "all.tar");
  writeFileSync(file, Buffer.concat(archive));
  const dataDir = makeFolder();
  await restoreBackup(file, dataDir);
  const restored = await testApp({ dataDir });
  const { collector } = restored.app;
  const { body } = await restored.get("/api/v1/set-aside");
  expect(body).toMatchObject({ records: [{ reason: "RangeError: a bug of ours" }] });
  expect(await collector.retryAside(null)).toBe(1);
  await collector.drained();
  expect((await restored.get("/api/v1/runs/r/metrics")).body).toMatchObject({
    metrics: [
      { key: "loss", count: 2 },
      { key: "poison", count: 1 },
    ],
  });
});
