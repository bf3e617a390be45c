// Series as the engine buckets them, beside the same buckets worked out point by point here.

import { beforeAll, expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

interface Point {
  readonly step: number;
  readonly ts: number;
  readonly seq: number;
  readonly value: number;
}

interface Series {
  readonly run: string;
  readonly points: number;
  readonly exact: boolean;
  readonly x_base: string;
  readonly x: number[];
  readonly x_last: number[];
  readonly count: number[];
  readonly first: unknown[];
  readonly last: unknown[];
  readonly min: unknown[];
  readonly max: unknown[];
  readonly nan: number[];
}

const test = suiteApp();

beforeAll(async () => {
  for (const run of ["long", "other", "short"]) await post(run, pointsOf(run));
  const drained = await test.get("/readyz?drained=1");
  expect(drained.status).toBe(200);
});

/** Several points share a step, some a time as well; a few are NaN. */
function pointsOf(run: string): Point[] {
  const count = run === "short" ? 7 : 3000;
  return Array.from({ length: count }, (_, i) => ({
    step: Math.floor(i / 3) + (run === "other" ? 1_000_000 : 0),
    ts: 1_700_000_000_000_000 + Math.floor(i / 2) * 10,
    seq: i + 2,
    value: i % 700 === 11 ? Number.NaN : Math.sin(i * 12.9898) * 100,
  }));
}

async function post(run: string, points: readonly Point[]): Promise<void> {
  const frames = points.map(({ step, ts, seq, value }) =>
    encodeFrame("metric", { seq, ts, wid: "w0" }, { run_id: run, key: "loss", value, step }),
  );
  const start = encodeFrame("run_start", { seq: 1, ts: 1_700_000_000_000_000, wid: "w0" }, { run_id: { id: run } });
  const body = Buffer.concat([start, ...frames]);
  const { status } = await test.post("/v1/xtrack", body, { "content-type": "application/octet-stream" });
  expect(status).toBe(202);
}

const word = (value: number): number | string => (Number.isNaN(value) ? "NaN" : value);

function toBuckets(points: readonly Point[], buckets: number) {
  const sorted = points.toSorted((a, b) => a.step - b.step || a.ts - b.ts || a.seq - b.seq);
  const [lo, hi] = [sorted[0]?.step ?? 0, sorted.at(-1)?.step ?? 0];
  const groups = Map.groupBy(sorted, (point) => Math.floor(((point.step - lo) / (hi - lo + 1)) * buckets));
  return [...groups.values()].map((members) => {
    const finite = members.map(({ value }) => value).filter(Number.isFinite);
    const [first, last] = [members[0] as Point, members.at(-1) as Point];
    return {
      x: first.step - lo,
      x_last: last.step - lo,
      count: members.length,
      first: word(first.value),
      last: word(last.value),
      min: finite.length === 0 ? null : Math.min(...finite),
      max: finite.length === 0 ? null : Math.max(...finite),
      nan: members.length - finite.length,
    };
  });
}

async function ask(runs: string[], buckets: number): Promise<Series[]> {
  const body = JSON.stringify({ runs, keys: ["loss"], buckets });
  const answer = await test.post("/api/v1/series", body);
  expect(answer.status).toBe(200);
  return (answer.body as { series: Series[] }).series;
}

function rowsOf(series: Series | undefined) {
  const { x, x_last, count, first, last, min, max, nan } = series as Series;
  return x.map((_, at) => ({
    x: x[at],
    x_last: x_last[at],
    count: count[at],
    first: first[at],
    last: last[at],
    min: min[at],
    max: max[at],
    nan: nan[at],
  }));
}

it("keeps first, last, least and greatest of each bucket, with ties of step and time in order of sending", async () => {
  const [series] = await ask(["long"], 50);
  expect(series).toMatchObject({ run: "long", points: 3000, exact: false, x_base: "0" });
  expect(rowsOf(series)).toEqual(toBuckets(pointsOf("long"), 50));
});

it("buckets each of several runs over its own range, and gives a short one point by point", async () => {
  const series = await ask(["long", "other", "short"], 40);
  expect(series.map(({ run, exact }) => [run, exact])).toEqual([
    ["long", false],
    ["other", false],
    ["short", true],
  ]);
  expect(rowsOf(series[0])).toEqual(toBuckets(pointsOf("long"), 40));
  expect(rowsOf(series[1])).toEqual(toBuckets(pointsOf("other"), 40));
  expect(series[2]).toMatchObject({ points: 7, count: [1, 1, 1, 1, 1, 1, 1], x: [0, 0, 0, 1, 1, 1, 2] });
  expect(series[2]?.first).toEqual(pointsOf("short").map(({ value }) => value));
});

it("takes the workers of a run together by position: mean, least and greatest of each step", async () => {
  const frames = ["w0", "w1", "w2"].flatMap((wid, worker) =>
    Array.from({ length: 20 }, (_, step) =>
      encodeFrame(
        "metric",
        { seq: step + 1, ts: 1_700_000_000_000_000 + step, wid },
        { run_id: "many", key: "loss", value: step * 10 + worker, step },
      ),
    ),
  );
  const body = Buffer.concat(frames);
  await test.post("/v1/xtrack?wait=1", body, { "content-type": "application/octet-stream" });
  const answer = await test.get("/api/v1/runs/many/metrics/loss?by=position");
  const [series] = (answer.body as { series: (Series & { mean: number[] })[] }).series;
  expect(series?.count).toEqual(Array.from({ length: 20 }, () => 3));
  expect(series?.mean).toEqual(Array.from({ length: 20 }, (_, step) => step * 10 + 1));
  expect(series?.min).toEqual(Array.from({ length: 20 }, (_, step) => step * 10));
  expect(series?.max).toEqual(Array.from({ length: 20 }, (_, step) => step * 10 + 2));
  const apart = await test.get("/api/v1/runs/many/metrics/loss?by=worker");
  expect((apart.body as { series: unknown[] }).series).toHaveLength(3);
});

it("keeps the sign of a zero, in a series and in the list of metrics", async () => {
  const text =
    '{"v":1,"t":"metric","m":{"seq":1,"ts":1700000000000001},"p":{"run_id":"zero","key":"z","value":-0.0,"step":1}}';
  await test.post("/v1/xtrack?wait=1", toFrameOfText(text), { "content-type": "application/octet-stream" });
  const { series } = (await test.get("/api/v1/runs/zero/metrics/z")).body as { series: Series[] };
  const { metrics } = (await test.get("/api/v1/runs/zero/metrics")).body as { metrics: Record<string, unknown>[] };
  const found = [series[0]?.last[0], metrics[0]?.["first"], metrics[0]?.["last"], metrics[0]?.["min"]];
  expect(found.map((value) => Object.is(value, -0))).toEqual([true, true, true, true]);
});
