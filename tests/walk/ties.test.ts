// Points of one metric, step and time: which of them is the first and which the last must not depend on what came first,
// and every answer must say the same.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

type Message = readonly [path: string, body: string | Uint8Array];

const atNs = 1_700_000_000_000_000_000n;
const values = [1, 2, 3, 4, 5, 6];

/** Marks have no sequence number. */
function toBatch(run: string, id: string, values: readonly number[]): Message {
  const marks = values.map(
    (value) =>
      `{"id":"${`${value}`.padStart(32, "0")}","span_id":"root","name":"loss","value_type":"int","value":${value},"attrs":{"step":1},"ts_ns":${atNs},"kind":"point"}`,
  );
  const tensors = values.map(
    (value) =>
      `{"id":"t${value}","span_id":"root","tensor_name":"w","shape":[${value}],"dtype":"float32","mode":"stats","stats":{"mean":0.0,"std":0.0,"min":0.0,"max":0.0,"norm":${value}.0},"blob_uri":null,"ts_ns":${atNs},"attrs":{}}`,
  );
  const head = `"schema_version":1,"sdk_version":"0.3.0","batch_id":"${id.repeat(32)}","created_ns":${atNs}`;
  return [`/v1/runs/${run}/traces`, `{${head},"spans":[],"marks":[${marks.join()}],"snapshots":[${tensors.join()}]}`];
}

/** Workers that go in step, each with a clock that tells only milliseconds. */
const workers = values.map((value): Message => {
  const event = (seq: number, type: string, own: string) =>
    toFrameOfText(
      `{"v":1,"t":"${type}","m":{"seq":${seq},"ts":${atNs / 1000n},"wid":"w${value}"},"p":{"run_id":"workers"${own}}}`,
    );
  const frames = [event(1, "run_start", ""), event(2, "metric", `,"key":"loss","value":${value},"step":1`)];
  return ["/v1/xtrack", Buffer.concat(frames)];
});

/** Spans of a step whose attributes are drawn as points at their end. */
const spans = values.map((value): Message => {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const number = (key: string, doubleValue: number) => ({ key, value: { doubleValue } });
  const span = {
    traceId: "1".repeat(32),
    spanId: `${value}`.repeat(16),
    name: "step",
    startTimeUnixNano: String(atNs - 1000n),
    endTimeUnixNano: String(atNs),
    attributes: [{ key: "step", value: { intValue: "1" } }, number("loss", value)],
  };
  const resource = { attributes: [text("service.name", "s"), text("tributary.run.id", "spans")] };
  return ["/v1/traces", JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })];
});

/** What comes in more than one message comes in this order or the other way round. */
const messages = [...workers, ...spans, ...values.map((value) => toBatch("batches", `${value}`, [value + 10]))];
const apps: TestApp[] = [];

beforeAll(async () => {
  const orders = [
    [toBatch("marks", "a", values), ...messages],
    [toBatch("marks", "a", values.toReversed()), ...messages.toReversed()],
  ];
  for (const order of orders) {
    const app = await createTestApp();
    apps.push(app);
    for (const [path, body] of order) {
      expect((await app.post(path, body)).status).toBeLessThan(300);
      await app.app.collector.drained();
    }
  }
});
afterAll(() => Promise.all(apps.map((app) => app.remove())));

/** The first and last value of a run's metric, as every answer tells it, and how many points there are. */
async function tellOf(app: TestApp, run: string) {
  const get = async (path: string): Promise<unknown> => {
    const { status, body } = await app.get(`/api/v1/${path}`);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const { metrics } = (await get(`runs/${run}/metrics`)) as { metrics: Record<string, unknown>[] };
  const metric = metrics.find(({ key }) => key === "loss");
  const column = "columns=metrics.loss.first&columns=metrics.loss.last";
  const table = (await get(`runs?filter=id:${run}&${column}`)) as {
    runs: { cells: Record<string, { num: number }> }[];
  };
  const cells = table.runs[0]?.cells;
  const compared = (await get(`compare?run=${run}`)) as { metrics: { key: string; last: unknown[] }[] };
  const one = (await get(`runs/${run}/metrics/loss?buckets=1`)) as { series: Record<string, unknown[]>[] };
  const each = (await get(`runs/${run}/metrics/loss`)) as { series: { points: number; first: unknown[] }[] };
  return {
    metric: [metric?.["first"], metric?.["last"]],
    table: [cells?.["metrics.loss.first"]?.num, cells?.["metrics.loss.last"]?.num],
    compared: compared.metrics.find(({ key }) => key === "loss")?.last[0],
    bucket: [one.series[0]?.["first"]?.[0], one.series[0]?.["last"]?.[0]],
    points: each.series[0]?.points,
    order: each.series[0]?.first,
  };
}

test.each(["marks", "batches", "workers", "spans"])("tells of %s at one place the same in any order", async (run) => {
  const [there, back] = apps as [TestApp, TestApp];
  const told = await tellOf(there, run);
  expect(told.points).toBe(values.length);
  expect(await tellOf(back, run)).toEqual(told);
});

test.each(["marks", "workers", "spans"])("tells of %s at one place the same everywhere", async (run) => {
  const told = await tellOf(apps[0] as TestApp, run);
  expect(told.order?.toSorted()).toEqual(values);
  const ends = [told.order?.[0], told.order?.at(-1)];
  expect(told).toMatchObject({ metric: ends, table: ends, bucket: ends, compared: ends[1] });
});

test.each(["marks", "batches"])("tells of the tensors of %s at one time the same in any order", async (run) => {
  const path = `/api/v1/runs/${run}/snapshots`;
  const told = await Promise.all(
    apps.map(async (app) => {
      const { tensors } = (await app.get(path)).body as { tensors: { norms: number[]; shape: number[] }[] };
      return tensors.map(({ norms, shape }) => ({ norms, shape }));
    }),
  );
  const norms = run === "marks" ? values : values.map((value) => value + 10);
  expect(told).toEqual(apps.map(() => [{ norms, shape: [norms.at(-1)] }]));
});
