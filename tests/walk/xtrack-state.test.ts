// What a run's events say about it, from frames by HTTP through the engine to its answer, and after a restart.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";

const walk = suiteApp();

const post = (body: Uint8Array) => walk.post("/v1/xtrack?wait=1", body, { "content-type": "application/octet-stream" });

async function runOf(id: string): Promise<Record<string, unknown>> {
  return (await walk.get(`/api/v1/runs/${id}`)).body as Record<string, unknown>;
}

test("a run of two workers, one of which started over, says how it ended, after a restart too", async () => {
  const at = (seq: number, ts: number, wid: string) => ({ seq, ts: 1794710321102255 + ts, wid });
  const frames = [
    encodeFrame("run_start", at(1, 0, "a"), { run_id: "two", name: "both" }),
    encodeFrame("run_start", at(1, 10, "b"), { run_id: "two" }),
    encodeFrame("checkpoint", at(2, 20, "a"), {
      run_id: "two",
      step: 7,
      path: "/c7",
      is_best: true,
      best_key: "val",
      metrics: { val: 0.5 },
    }),
    encodeFrame("run_end", at(3, 30, "a"), { run_id: "two", status: "killed", final_metrics: { val: 9 } }),
    encodeFrame("run_start", at(1, 1000, "a"), { run_id: "two" }),
    encodeFrame("checkpoint", at(2, 1010, "a"), {
      run_id: "two",
      step: 9,
      path: "/c9",
      is_best: true,
      metrics: { val: Number.NaN },
    }),
    encodeFrame("run_end", at(9, 2000, "a"), {
      run_id: "two",
      status: "completed",
      duration_ms: 77,
      final_metrics: { val: 0.25 },
    }),
    encodeFrame("run_end", at(2, 2010, "b"), {
      run_id: "two",
      status: "completed",
      final_metrics: { val: 0.75, b: 1 },
    }),
  ];
  expect(await post(Buffer.concat(frames))).toMatchObject({ status: 202, body: { accepted: 8, duplicates: 0 } });
  const expected = {
    status: "completed",
    final_metrics: { val: 0.25, b: 1 },
    best_checkpoint: { step: "9", path: "/c9", metrics: { val: "NaN" }, worker: "a" },
    durations: [
      { worker: "a", clock_ns: "1000000", said_ms: "77" },
      { worker: "b", clock_ns: "2000000", said_ms: null },
    ],
    integrity: { missing: 6, duplicates: 0 },
  };
  expect(await runOf("two")).toMatchObject(expected);
  expect(await post(Buffer.concat(frames.toReversed()))).toMatchObject({ body: { accepted: 0, duplicates: 8 } });
  await walk.reopen();
  expect(await post(Buffer.concat(frames))).toMatchObject({ body: { accepted: 0, duplicates: 8 } });
  expect(await runOf("two")).toMatchObject({ ...expected, integrity: { missing: 6, duplicates: 16 } });
});

test("a fault that was stored is known after a restart", async () => {
  const bad = encodeFrame("metric", { seq: 1, ts: 5 }, { run_id: "faulty", value: 1 } as never);
  const faults = async () =>
    ((await walk.get("/api/v1/faults?code=xtrack_missing_field")).body as { faults: unknown[] }).faults;
  for (let round = 0; round < 2; round++) {
    expect(await post(bad)).toMatchObject({
      status: 202,
      body: { faults: [{ code: "xtrack_missing_field", offset: 0 }] },
    });
    expect(await faults()).toHaveLength(1);
    await walk.reopen();
  }
});

test("the recorded sweep has fourteen runs with their ends and best checkpoints", async () => {
  const file = new URL("../../examples/data/h200/sweep.xtrack.bin", import.meta.url);
  expect(await post(await readFile(file))).toMatchObject({ status: 202, body: { accepted: 6487, faults: [] } });
  const list = (await walk.get("/api/v1/runs?limit=100&filter=experiment%3Ah200-gpt-sweep")).body as {
    runs: { id: string; status: string; integrity: object }[];
  };
  expect(list.runs).toHaveLength(14);
  expect(list.runs.map((run) => run.status).sort()).toEqual([...Array(13).fill("completed"), "failed"]);
  expect(list.runs.every((run) => JSON.stringify(run.integrity).includes('"missing":0'))).toBe(true);
  const one = await runOf("59a83676-15ca-4ec8-a01c-4610eeb410de");
  expect(one).toMatchObject({
    name: "gpt-w64-lr0.0003",
    final_metrics: { val_loss: 2.6091598749160765 },
    best_checkpoint: { best_key: "val_loss", metrics: { val_loss: expect.any(Number) } },
    durations: [{ worker: "", clock_ns: "4878957000", said_ms: "4880" }],
  });
});

test("values that the engine's JSON reader cannot hold take nothing else of their event away [XT-10]", async () => {
  const odd = String.raw`"\udcff /data/caf\udce9"`;
  const frame = (seq: number, type: string, payload: string): Buffer => {
    const text = `{"v":1,"t":"${type}","m":{"seq":${seq},"ts":${1794710321102255 + seq}},"p":{"run_id":"odd",${payload}}}`;
    const bytes = Buffer.from(text, "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const end = `"status":"failed","error":{"type":"OSError","message":${odd}},"final_metrics":{"n":1180591620717411303424}`;
  await post(
    Buffer.concat([
      frame(1, "run_start", `"name":"named","tags":{"where":${odd},"big":1e400}`),
      frame(2, "status", `"status":"training","msg":${odd},"progress":{"cur":3,"total":1180591620717411303424}`),
      frame(3, "artifact", `"path":"/m.pt","name":"m","size":12,"meta":{"note":${odd},"n":1180591620717411303424}`),
      frame(4, "checkpoint", `"step":7,"path":"/c","is_best":true,"metrics":{"val":1180591620717411303424}`),
      frame(5, "run_end", end),
    ]),
  );
  const run = await runOf("odd");
  expect(run).toMatchObject({ name: "named", status: "failed", status_raw: "failed" });
  expect(run["error"]).toContain(String.raw`\udcff /data/caf\udce9`);
  expect(run["final_metrics"]).toEqual({ n: 2 ** 70 });
  expect(run["tags"]).toHaveLength(2);
  const { artifacts } = (await walk.get("/api/v1/runs/odd/artifacts")).body as { artifacts: Record<string, unknown>[] };
  expect(artifacts[0]).toMatchObject({ name: "m", path: "/m.pt", size_bytes: "12" });
  expect(artifacts[0]?.["meta"]).toBe(String.raw`{"note":"\udcff /data/caf\udce9","n":1180591620717411303424}`);
  const { checkpoints } = (await walk.get("/api/v1/runs/odd/checkpoints")).body as {
    checkpoints: Record<string, unknown>[];
  };
  expect(checkpoints[0]).toMatchObject({ step: "7", path: "/c", metrics: { val: 2 ** 70 } });
  const query =
    "SELECT r.name, r.status, c.path FROM runs AS r JOIN checkpoints AS c ON c.run_id = r.run_id WHERE r.run_id = 'odd'";
  const answer = await walk.post("/api/v1/sql", JSON.stringify({ query }));
  expect((answer.body as { rows: unknown[] }).rows).toEqual([["named", "failed", "/c"]]);
});
