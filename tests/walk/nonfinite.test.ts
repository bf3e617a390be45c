// A training that diverges, as SDKs from 0.2.0 on say it in strict JSON: every answer must show it, every export must
// give it back in the form it came in, and whoever sends it again sends nothing new.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { readIndependently, sameNumbers, type Tree } from "#wire/cirron/small-records.testing.ts";
import { suiteApp } from "../support/app.ts";

const spool = join(import.meta.dirname, "../fixtures/cirron/diverging/.cirron/spool");
const files = globSync("*.json", { cwd: spool }).sort();
const sent = files.map((file) => readFileSync(join(spool, file), "utf8"));
const run = "b2e96cdac6ba679179fd04733e0450c7";
const walk = suiteApp();

beforeAll(async () => {
  for (const body of sent) expect((await walk.post("/v1/traces?wait=1", body)).status).toBe(202);
  await walk.app.collector.drained();
});

async function get(path: string): Promise<Record<string, never>> {
  const { status, body } = await walk.get(`/api/v1/${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body as Record<string, never>;
}

async function sql(query: string): Promise<unknown[][]> {
  const { body } = await walk.post("/api/v1/sql", JSON.stringify({ query }));
  return (body as { rows: unknown[][] }).rows;
}

test("NaN and infinities are points of their series, counted wherever counts are shown", async () => {
  expect(await get(`runs/${run}/metrics`)).toMatchObject({
    metrics: [{ key: "loss", count: 4, nan: 1, pos_inf: 1, neg_inf: 1, last: "-Infinity", min: 1.0254, max: 1.0254 }],
  });
  expect(await get(`runs/${run}/metrics/loss`)).toMatchObject({
    series: [{ points: 4, x: [0, 1, 2, 3], nan: [0, 0, 1, 0], pos_inf: [0, 1, 0, 0], neg_inf: [0, 0, 0, 1] }],
  });
  expect(await get(`runs/${run}`)).toMatchObject({ integrity: { nonfinite: 3 } });
  const filter = encodeURIComponent("metrics.loss.nonfinite>0");
  const table = await get(`runs?filter=${filter}&columns=metrics.loss.last&columns=metrics.loss.min`);
  const cells = { "metrics.loss.last": { num: "-Infinity", nonfinite: 3 }, "metrics.loss.min": { num: 1.0254 } };
  expect(table).toMatchObject({ runs: [{ id: run, integrity: { nonfinite: 3 }, cells }] });
});

test("SQL sees the values, in the document's table too", async () => {
  const values = ["1.0254", "Infinity", "NaN", "-Infinity"];
  const first = (rows: unknown[][]) => rows.map(([value]) => String(value));
  expect(first(await sql("SELECT valueFloat FROM TraceMark ORDER BY tsNs"))).toEqual(values);
  expect(first(await sql(`SELECT value FROM metrics_of(run = '${run}') ORDER BY ts_ns`))).toEqual(values);
});

test("a span's marks have their values", async () => {
  const [[span]] = (await sql("SELECT spanId FROM TraceMark WHERE isNaN(valueFloat)")) as [[string]];
  expect(await get(`runs/${run}/spans/by-id/${span}`)).toMatchObject({
    marks: [{ value: "NaN" }, { value: "-Infinity" }],
  });
});

test("tensors say which of them are spoilt, how much of them, and how the rest is spread", async () => {
  const { tensors } = await get(`runs/${run}/snapshots`);
  expect(tensors).toMatchObject([
    { tensor: "dense/bias", norms: [1.3693064451217651, "NaN"], hints: ["nan"] },
    { tensor: "dense/kernel", norms: [4.6915435791015625, "NaN"], change: null, hints: ["nan"] },
  ]);
  const kernel = (await get(`runs/${run}/snapshots/dense%2Fkernel`))["rows"];
  expect(kernel).toMatchObject([
    { mean: 0, nonfinite_count: null, finite: null },
    { mean: "NaN", max: "NaN", nonfinite_count: 2, finite: { count: 62, min: -1, norm: 4.537295341491699 } },
  ]);
  const counts = (kernel as unknown as { counts: number[] }[]).map((row) =>
    row.counts.reduce((sum, count) => sum + count, 0),
  );
  expect(counts).toEqual([64, 62]);
  const bias = (await get(`runs/${run}/snapshots/dense%2Fbias`))["rows"];
  expect(bias).toMatchObject([{}, { nonfinite_count: 4, finite: { count: 0, mean: null }, bins: [], counts: [] }]);
});

test("an export gives the records in the form they came in, and they are known when they come again", async () => {
  const text = await (await fetch(`${walk.app.url}/api/v1/runs/${run}/export?format=jsonl`)).text();
  const lines = text.trimEnd().split("\n").map(readIndependently) as { kind: string; record?: Tree }[];
  const recordsOf = (batches: Tree[], table: string) =>
    batches
      .flatMap((batch) => sameNumbers(batch[table]) as Tree[])
      .sort((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1));
  const exported = lines.flatMap((line) => (line.record === undefined ? [] : [line.record]));
  const originals = sent.map(readIndependently) as Tree[];
  for (const table of ["spans", "marks", "snapshots"])
    expect([table, recordsOf(exported, table)]).toEqual([table, recordsOf(originals, table)]);
  for (const body of sent) await walk.post("/v1/traces", body.replace(/"batch_id":"../, '"batch_id":"zz'));
  await walk.app.collector.drained();
  expect(await sql("SELECT count() FROM marks UNION ALL SELECT count() FROM metrics")).toEqual([["4"], ["4"]]);
  expect(await get("faults")).toMatchObject({ faults: [] });
});

test("a number that no double holds is exact as a point, a record and an export", async () => {
  const literals = ["1e400", "-1e400", "0.1e-400", "0.0"];
  const marks = literals.map(
    (value, i) => `{"id":"o${i}","span_id":"odd","name":"big","value_type":"float","value":${value},"ts_ns":${i}}`,
  );
  const batch = `{"schema_version":1,"batch_id":"odd","spans":[],"marks":[${marks.join(",")}],"snapshots":[]}`;
  await walk.post("/v1/runs/odd/traces", batch);
  await walk.app.collector.drained();
  expect(await sql("SELECT value, value_text FROM metrics WHERE run_id = 'odd' ORDER BY ts_ns")).toEqual([
    ["Infinity", "1e400"],
    ["-Infinity", "-1e400"],
    [0, "0.1e-400"],
    [0, ""],
  ]);
  const exported = await (await fetch(`${walk.app.url}/api/v1/runs/odd/export?format=jsonl`)).text();
  const csv = await (await fetch(`${walk.app.url}/api/v1/runs/odd/export?format=csv&kind=metrics`)).text();
  for (const literal of literals.slice(0, 3)) {
    expect(exported).toContain(`\\"value\\":${literal},`);
    expect(csv).toContain(literal);
  }
});
