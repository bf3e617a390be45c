// GET /runs/<id>/spans/by-id/<span>: nothing that was sent is missing, and what is left out is said.

import { beforeAll, expect, test } from "vitest";
import type { SpanDetail, SpansAnswer } from "#api/contract/span.ts";
import { suiteApp } from "../support/app.ts";

const deepest = 4200;
const walk = suiteApp();

beforeAll(async () => {
  const spans: object[] = [];
  for (let at = 0; at < deepest; at++) {
    const parent_id = at === 0 ? null : `s${at - 1}`;
    spans.push({ id: `s${at}`, name: "cirron.session", parent_id, start_ns: 1 + at, end_ns: 100_000 - at, pid: 1 });
  }
  spans[1] = { ...spans[1], name: 7, error: { kind: "late" }, retries: 3 };
  const value = { value_type: "float", value: -0.5, unit: "nats" };
  const marks = Array.from({ length: 1001 }, (_, at) => ({
    id: `m${at}`,
    span_id: "s1",
    name: "loss",
    ts_ns: at + 2,
    ...value,
  }));
  const body = { schema_version: 1, batch_id: "deep", spans, marks, snapshots: [] };
  await walk.post("/v1/runs/deep/traces", JSON.stringify(body).replaceAll("-0.5", "-0.0"));
  await walk.app.collector.drained();
});

async function spanOf(id: string): Promise<SpanDetail> {
  const { status, body } = await walk.get(`/api/v1/runs/deep/spans/by-id/${id}`);
  expect(status).toBe(200);
  return body as SpanDetail;
}

test("a span and its marks come with the fields that the document does not know [CT-24]", async () => {
  const span = await spanOf("s1");
  expect(JSON.parse(span.extra)).toEqual({ name: 7, error: { kind: "late" }, retries: 3 });
  expect(JSON.parse(span.marks[0]?.extra ?? "")).toEqual({ unit: "nats" });
  expect(Object.is(span.marks[0]?.value, -0)).toBe(true);
  expect((await spanOf("s2")).extra).toBe("");
});

test("a span with more marks than are shown, and one deeper than is shown, say so", async () => {
  const { marks, mark_count } = await spanOf("s1");
  expect([marks.length, mark_count]).toEqual([1000, 1001]);
  const near = await spanOf("s128");
  expect([near.ancestors.length, near.ancestors[0]?.id, near.ancestors_cut]).toEqual([128, "s0", false]);
  const far = await spanOf("s129");
  expect([far.ancestors.length, far.ancestors[0]?.id, far.ancestors_cut]).toEqual([128, "s1", true]);
});

test("a lane that nests deeper than is drawn says so", async () => {
  const { lanes } = (await walk.get("/api/v1/runs/deep/spans")).body as SpansAnswer;
  expect(lanes[0]).toMatchObject({ depth: 4097, spans: deepest });
  expect(lanes[0]?.label).toContain("nests deeper than 4096");
});

test("the table of runs and a comparison keep the sign of a negative zero", async () => {
  const table = await fetch(`${walk.app.url}/api/v1/runs?columns=metrics.loss.last`);
  expect(await table.text()).toContain('"metrics.loss.last":{"text":"-0","num":-0,');
  const compared = await fetch(`${walk.app.url}/api/v1/compare?run=deep&run=deep`);
  expect(await compared.text()).toMatch(/"key":"loss".*-0/);
});
