// Values of megabytes: a list shows their beginning, says how large they are, and leads to the whole.

import { beforeAll, describe, expect, test } from "vitest";
import type { EventsAnswer, LogsAnswer, ParamRow } from "#api/contract/record.ts";
import type { SpanDetail } from "#api/contract/span.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";

const large = `é${"x".repeat(2_000_000)}`;
const walk = suiteApp();

beforeAll(async () => {
  const frames = [
    encodeFrame("run_start", { seq: 1, ts: 1000 }, { run_id: "big", env: { host: "h", path: large } }),
    encodeFrame("param", { seq: 2, ts: 2000 }, { run_id: "big", key: "vocab", value: `${large}1` }),
    encodeFrame("param", { seq: 3, ts: 3000 }, { run_id: "big", key: "vocab", value: `${large}2` }),
    encodeFrame("log", { seq: 4, ts: 4000 }, { run_id: "big", level: "info", msg: large }),
    encodeFrame("artifact", { seq: 5, ts: 5000 }, { run_id: "big", name: "m", path: "/m", meta: { note: large } }),
  ];
  await walk.post("/v1/xtrack?wait=1", Buffer.concat(frames), { "content-type": "application/octet-stream" });
  const span = { id: "s", name: "cirron.session", parent_id: null, start_ns: 1, end_ns: 9, pid: 1, attrs: { large } };
  const mark = { id: "m", span_id: "s", name: "note", value_type: "string", value: large, ts_ns: 5, attrs: {} };
  const batch = { schema_version: 1, batch_id: "b", spans: [span], marks: [mark], snapshots: [] };
  await walk.post("/v1/runs/spans/traces?wait=1", JSON.stringify(batch));
});

const whole = async (run: string, id: string): Promise<string> =>
  (await fetch(`${walk.app.url}/api/v1/runs/${run}/events/${id}`)).text();

describe("a list", () => {
  test("shows the beginning of a record and leads to all of it", async () => {
    const { events } = (await walk.get("/api/v1/runs/big/events")).body as EventsAnswer;
    expect(events.map(({ type }) => type)).toEqual(["run_start", "param", "param", "log", "artifact"]);
    for (const event of events) {
      expect(event.text.length).toBeLessThanOrEqual(65_536);
      expect(event.cut_from).toBeGreaterThan(2_000_000);
      expect(await whole("big", event.id)).toContain(large);
    }
    expect(JSON.parse(await whole("big", events[1]?.id as string))).toMatchObject({
      t: "param",
      p: { value: `${large}1` },
    });
    expect(await walk.get("/api/v1/runs/big/events/99.0")).toMatchObject({
      status: 404,
      body: { code: "event_not_found" },
    });
    expect(await walk.get(`/api/v1/runs/spans/events/${events[1]?.id}`)).toMatchObject({ status: 404 });
  });

  test("tells values apart that begin alike, and stays JSON", async () => {
    const { params } = (await walk.get("/api/v1/runs/big/params")).body as { params: ParamRow[] };
    expect(params).toHaveLength(1);
    const [{ value, earlier, cut_from, id } = {} as ParamRow] = params;
    expect(String(JSON.parse(value)).slice(1, 100)).toBe(large.slice(0, 99));
    expect([cut_from, earlier.length]).toEqual([2_000_005, 1]);
    expect(await whole("big", id)).toContain(`${large}2`);
    const { params: shown } = (await walk.get("/api/v1/runs/big")).body as { params: Record<string, string> };
    expect(JSON.parse(shown["vocab"] ?? "")).toHaveLength(4097 - 1);
  });

  test("of very many params is whole where it is asked for, and short and said to be so in the run", async () => {
    const count = 12_000;
    const context = Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`key.${String(i).padStart(5, "0")}`, i]),
    );
    const start = {
      record_type: "pipeline_start",
      schema_version: 1,
      run_id: "wide",
      timestamp: "2026-11-15T02:48:56.995Z",
    };
    const line = { ...start, pipeline_id: "p", pipeline_spec_canonical: { nodes: [] }, run_space_context: context };
    await walk.post("/v1/trace-stream?wait=1", `${JSON.stringify(line)}\n`);
    const { params } = (await walk.get("/api/v1/runs/wide/params")).body as { params: ParamRow[] };
    expect(params.map(({ name, value }) => [name, Number(value)])).toEqual(Object.entries(context));
    const run = (await walk.get("/api/v1/runs/wide")).body as { params: object; notes_on_data: string[] };
    expect(Object.keys(run.params).sort()).toEqual(Object.keys(context).slice(0, 10_000));
    expect(run.notes_on_data.join("\n")).toContain("the first 10000 params by name");
  });

  test("of a run leaves out what is large of its environment, and the record has it", async () => {
    const response = await fetch(`${walk.app.url}/api/v1/runs/big`);
    const text = await response.text();
    expect(text.length).toBeLessThan(100_000);
    expect(JSON.parse(text)).toMatchObject({ env: { host: "h" } });
    const { events } = (await walk.get("/api/v1/runs/big/events")).body as EventsAnswer;
    expect(await whole("big", events[0]?.id as string)).toContain(large);
  });

  test("cuts messages where it is asked to, or at 64 KiB", async () => {
    const ask = async (query: string) =>
      ((await walk.get(`/api/v1/runs/big/logs${query}`)).body as LogsAnswer).logs.map(({ msg, cut_from }) => [
        msg.length,
        cut_from,
      ]);
    expect(await ask("")).toEqual([[65_535, 2_000_001]]);
    expect(await ask("?chars=10")).toEqual([[10, 2_000_001]]);
    expect(await ask("?chars=2000001")).toEqual([[2_000_001, undefined]]);
  });

  test("shows one span and its marks in part, and where their records are", async () => {
    const { attrs, record, marks } = (await walk.get("/api/v1/runs/spans/spans/by-id/s")).body as SpanDetail;
    expect(JSON.parse(attrs).length).toBeLessThan(1_100_000);
    expect(marks[0]?.text).toBe(large.slice(0, 4095));
    expect(await whole("spans", record)).toContain(large);
    expect(await whole("spans", marks[0]?.record as string)).toContain(large);
  });

  test("of files has what belongs to them in part", async () => {
    const { artifacts } = (await walk.get("/api/v1/runs/big/artifacts")).body as { artifacts: { meta: string }[] };
    expect(String(JSON.parse(artifacts[0]?.meta ?? "")).startsWith('{"note":"é')).toBe(true);
    expect(artifacts[0]?.meta.length).toBeLessThan(70_000);
  });
});
