// A point that is told while it arrives stands where the stored one stands: same worker, step and epoch.

import { expect, test } from "vitest";
import type { LiveEvent } from "#api/contract/live.ts";
import type { SeriesAnswer } from "#api/contract/series.ts";
import { suiteApp } from "../support/app.ts";

const walk = suiteApp();

type Metrics = LiveEvent<"metrics">["data"];

/** The first metrics event behind a position. */
async function firstMetrics(run: string, after: string): Promise<Metrics> {
  const gone = new AbortController();
  const response = await fetch(`${walk.app.url}/api/v1/live?run=${run}&after=${after}`, { signal: gone.signal });
  let text = "";
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (/event: metrics\ndata: .*\n/.test(text)) break;
  }
  gone.abort();
  return JSON.parse(/event: metrics\ndata: (.*)\n/.exec(text)?.[1] ?? "null") as Metrics;
}

test("marks without a place of their own take that of their spans, live as stored", async () => {
  const span = (id: string, name: string, parent_id: string | null, index: number | null) => ({
    id,
    name,
    parent_id,
    index,
    start_ns: 1,
    end_ns: 9,
    pid: 1,
    rank: 3,
  });
  const mark = (id: string, span_id: string, ts_ns: number, attrs: object) => ({
    id,
    span_id,
    name: "loss",
    value_type: "float",
    value: 0.5,
    ts_ns,
    attrs,
  });
  const spans = [
    span("live", "cirron.session", null, null),
    span("e", "epoch", "live", 2),
    span("s", "step", "e", 40),
    span("f", "forward", "s", null),
  ];
  const marks = [mark("a", "f", 2, {}), mark("b", "s", 3, { step: 7 }), mark("c", "e", 4, { epoch: 9, step: 50 })];
  const before = (await walk.get("/api/v1/runs?limit=1")).body as { as_of: string };
  await walk.post("/v1/traces", JSON.stringify({ schema_version: 1, batch_id: "b", spans, marks, snapshots: [] }));
  await walk.app.collector.drained();
  const told = await firstMetrics("live", before.as_of);
  const at = (axis: string) => walk.get(`/api/v1/runs/live/metrics/loss?axis=${axis}&by=worker`);
  const stored = async (axis: string) => {
    const { series } = (await at(axis)).body as SeriesAnswer;
    return series.map(({ worker, x, x_base }) => ({ worker, x: x.map((one) => String(BigInt(x_base) + BigInt(one))) }));
  };
  expect(told).toMatchObject({ worker: ["3", "3", "3"], step: ["40", "7", "50"], epoch: ["2", "2", "9"] });
  expect(await stored("step")).toEqual([{ worker: "3", x: ["7", "40", "50"] }]);
  expect(await stored("epoch")).toEqual([{ worker: "3", x: ["2", "2", "9"] }]);
});

test("marks whose spans came in an earlier batch take their place from there, and their worker from their group", async () => {
  const base = { start_ns: 1, end_ns: 9, pid: 7, rank: 2 };
  const epoch = { ...base, id: "e7", name: "epoch", parent_id: "s7", index: 4 };
  const step = { ...base, id: "st7", name: "step", parent_id: "e7", index: 90 };
  const mark = { id: "m7", span_id: "st7", name: "loss", value_type: "float", value: 0.5, ts_ns: 3, attrs: {} };
  const send = (batch_id: string, parts: object) =>
    walk.post(
      "/v1/runs/two/traces",
      JSON.stringify({ schema_version: 1, batch_id, spans: [], marks: [], snapshots: [], ...parts }),
    );
  await send("two-1", { spans: [epoch, step] });
  await walk.app.collector.drained();
  const before = (await walk.get("/api/v1/runs?limit=1")).body as { as_of: string };
  await send("two-2", { marks: [mark] });
  await walk.app.collector.drained();
  const told = await firstMetrics("two", before.as_of);
  const { series } = (await walk.get("/api/v1/runs/two/metrics/loss?axis=step&by=worker")).body as SeriesAnswer;
  const [stored] = series;
  expect(told).toMatchObject({ worker: ["2"], step: ["90"], epoch: ["4"] });
  expect([stored?.worker, String(BigInt(stored?.x_base ?? 0) + BigInt(stored?.x[0] ?? 0))]).toEqual(["2", "90"]);
});
