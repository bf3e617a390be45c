// The names that runs can be filtered by: how many runs have each, however many groups of rows a run has.

import { beforeAll, expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp();
let seq = 0;

async function send(run: string, type: string, own: object): Promise<void> {
  const frame = toFrame({ type, seq: ++seq, ts: 1_790_000_000_000 + seq, payload: { run_id: run, ...own } });
  expect((await walk.post("/v1/xtrack?wait=1", frame)).status).toBe(202);
}

/** Each batch is a group of its own. */
async function sendMark(run: string, at: number): Promise<void> {
  const mark = `{"id":"${run}-mark-${at}","span_id":"root","name":"loss","value_type":"float","value":0.5,"attrs":{},"ts_ns":${at},"kind":"point"}`;
  const batch = `{"schema_version":1,"sdk_version":"0.3.0","batch_id":"${run}-${at}","created_ns":${at},"spans":[],"marks":[${mark}],"snapshots":[]}`;
  expect((await walk.post(`/v1/runs/${run}/traces?wait=1`, batch)).status).toBe(202);
}

beforeAll(async () => {
  for (const run of ["a", "b", "c"]) await send(run, "param", { key: "few", value: run === "a" ? 1 : "x" });
  for (const run of ["a", "b", "c", "gone"]) await send(run, "metric", { key: "acc", value: 1 });
  await send("a", "param", { key: "rare", value: 1 });
  for (const at of [1, 2, 3]) await sendMark("marks", at);
  await sendMark("more", 4);
  const gone = await fetch(`${walk.app.url}/api/v1/runs/gone`, { method: "DELETE" });
  expect(gone.status).toBeLessThan(300);
  expect((await walk.post("/api/v1/runs/b/join", '{"ids":["c"]}')).status).toBeLessThan(300);
  await walk.app.collector.drained();
});

test("counts runs, not the groups of their rows, and puts the most common first", async () => {
  const { body } = await walk.get("/api/v1/fields");
  const { fields } = body as { fields: { field: string; kind: string; type: string; runs: number }[] };
  const own = fields.filter(({ kind }) => kind !== "run");
  expect(own.filter(({ field }) => !/\.(?:min|max)$/.test(field)).map(({ field, runs }) => [field, runs])).toEqual([
    ["metrics.acc.last", 2],
    ["metrics.loss.last", 2],
    ["params.few", 2],
    ["params.rare", 1],
  ]);
  expect(own.find(({ field }) => field === "params.few")?.type).toBe("mixed");
});
