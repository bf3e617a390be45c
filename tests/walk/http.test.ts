import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";

const root = join(import.meta.dirname, "../..");
const spool = join(root, "examples/data/h200/cirron-stats/.cirron/spool");
const walk = suiteApp();

interface Runs {
  runs: { id: string; status: string; protocols: string[] }[];
  total: number;
}

test("a batch walks from a real request to the answer of a query [CT-26] [CT-28]", async () => {
  for (const name of readdirSync(spool)) {
    const body = readFileSync(join(spool, name));
    const headers = { "content-type": "application/json", "content-encoding": "gzip", authorization: "Bearer ck_test" };
    const answer = await walk.post("/v1/traces?wait=1", gzipSync(body), headers);
    expect(answer).toEqual({
      status: 202,
      body: { batch_id: (JSON.parse(body.toString()) as { batch_id: string }).batch_id },
    });
  }
  const { body } = await walk.get("/api/v1/runs?columns=metrics.loss.last&spark=loss");
  const { runs, total } = body as Runs;
  expect(total).toBe(1);
  expect(runs[0]).toMatchObject({ id: "d367d862a8534da6e34d2f94bf863f8f", protocols: ["cirron"], status: "running" });
  const run = await walk.get(`/api/v1/runs/${runs[0]?.id}`);
  expect(run.status).toBe(200);
  const metrics = await walk.get(`/api/v1/runs/${runs[0]?.id}/metrics`);
  expect(metrics.body).toMatchObject({ metrics: expect.arrayContaining([expect.objectContaining({ key: "loss" })]) });
  const series = await walk.get(`/api/v1/runs/${runs[0]?.id}/metrics/loss?buckets=100`);
  expect(series.body).toMatchObject({ axis: "step", series: [{ key: "loss", exact: false }] });
  const summary = await walk.get(`/api/v1/runs/${runs[0]?.id}/spans/summary`);
  expect(summary.body).toMatchObject({ rows: expect.arrayContaining([expect.objectContaining({ name: "forward" })]) });
  const rows = (summary.body as { rows: { name: string; wall_ns: string; self_ns: string | null }[] }).rows;
  const byName = new Map(rows.map((row) => [row.name, row]));
  expect(byName.get("forward")?.self_ns).toBe(byName.get("forward")?.wall_ns);
  expect(Number(byName.get("step")?.self_ns)).toBeLessThan(Number(byName.get("step")?.wall_ns));
  const spans = await walk.get(`/api/v1/runs/${runs[0]?.id}/spans?width=16000`);
  expect(spans.body).toMatchObject({ total: 3043 + 2, lanes: [{ rank: 0, has_gpu: true }] });
  const boxes = (spans.body as { spans: { merged: number[]; id: string[] } }).spans;
  expect(boxes.merged.reduce((sum, merged) => sum + merged, 0)).toBe(3045);
  const tensors = await walk.get(`/api/v1/runs/${runs[0]?.id}/snapshots`);
  const [first] = (tensors.body as { tensors: { tensor: string; kind: string }[] }).tensors;
  expect(tensors.body).toMatchObject({
    tensors: expect.arrayContaining([expect.objectContaining({ kind: "gradient" })]),
  });
  const tensor = await walk.get(`/api/v1/runs/${runs[0]?.id}/snapshots/${encodeURIComponent(first?.tensor ?? "")}`);
  expect(tensor.body).toMatchObject({ tensor: first?.tensor, rows: [{ epoch: "0" }, { epoch: "1" }, {}] });
  for (const list of ["logs", "params", "artifacts", "checkpoints", "faults"])
    expect(await walk.get(`/api/v1/runs/${runs[0]?.id}/${list}`)).toMatchObject({ status: 200 });
});
