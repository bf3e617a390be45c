import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventRow, EventsAnswer } from "#api/contract/record.ts";
import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import type { JsonObject, JsonValue } from "#base/json/value.ts";
import { suiteApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

const root = join(import.meta.dirname, "../..");
const spool = join(root, "tests/fixtures/cirron/torch_stats/.cirron/spool");
const octets = { "content-type": "application/octet-stream" };
const walk = suiteApp();

const xtrackTexts = [
  '{"v":1,"t":"run_start","m":{"seq":1,"ts":1700000000000001,"wid":"w"},"p":{"run_id":{"id":"mixed","exp_id":null},"name":"n"}}',
  '{"v":1,"t":"metric","m":{"seq":2,"ts":1700000000000002,"wid":"w"},"p":{"run_id":"mixed","key":"loss","value":NaN,"step":9007199254740993}}',
  '{"v":1,"t":"metric_batch","m":{"seq":3,"ts":1700000000000003,"wid":"w"},"p":{"run_id":"mixed","metrics":{"a":1.5,"b":-0.0,"c":18446744073709551615},"step":4,"epoch":1,"ctx":{"phase":"train","batch_size":8}}}',
  '{"v":1,"t":"param","m":{"seq":4,"ts":1700000000000004,"wid":"w"},"p":{"run_id":"mixed","key":"opt","nested_key":["adam","lr"],"value":0.001}}',
  '{"v":1,"t":"log","m":{"seq":5,"ts":1700000000000005,"wid":"w"},"p":{"run_id":"mixed","level":"info","msg":"Grüße \\u0001","fields":{"x":[1,2]},"later":true}}',
  '{"v":1,"t":"log","m":{"seq":6,"ts":1700000000000006,"wid":"w"},"p":{"run_id":"mixed","level":"info","msg":"half \\ud83d pair"}}',
  '{"v":1,"t":"brand_new","m":{"seq":7,"ts":1700000000000007,"wid":"w"},"p":{"run_id":"mixed","deep":{"n":12345678901234567890123}}}',
  '{"v":1,"t":"status","m":{"seq":8,"ts":1700000000000008,"wid":"w","own":1},"p":{"run_id":"mixed","status":"training"},"also":null}',
];
const batches = readdirSync(spool)
  .sort()
  .map((name) => readFileSync(join(spool, name)));

beforeAll(async () => {
  for (const text of xtrackTexts) {
    expect((await walk.post("/v1/xtrack", toFrameOfText(text), octets)).body).toMatchObject({ accepted: 1 });
  }
  for (const batch of batches) expect((await walk.post("/v1/runs/mixed/traces", batch)).status).toBe(202);
  const output = "/v1/runs/mixed/output?wrapper=wr&stream=stdout&offset=0&wait=1";
  await walk.post(output, "first line\nsecond line\n", { "content-type": "text/plain" });
  await walk.get("/readyz?drained=1");
});

async function events(query: string): Promise<EventsAnswer> {
  const { status, body } = await walk.get(`/api/v1/runs/mixed/events?${query}`);
  expect(body).toMatchObject({ events: expect.any(Array) });
  expect(status).toBe(200);
  return body as EventsAnswer;
}

async function allEvents(query: string, limit: number): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: EventsAnswer = await events(`${query}&limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    rows.push(...page.events);
    cursor = page.next;
  }
  return rows;
}

/** The same text for the same values: keys in order, integers with all their digits. */
function canonical(text: string): string {
  const parsed = parseJson(text);
  expect(parsed.ok).toBe(true);
  return parsed.ok ? formatJson(sortKeys(parsed.value), "lossless") : "";
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const object = value as JsonObject;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, sortKeys(object[key] as JsonValue)]),
  );
}

describe("GET /runs/<id>/events", () => {
  test("gives every XTrack event back with every value it had, in the order of arrival [XT-20]", async () => {
    const { events: rows } = await events("protocol=xtrack");
    expect(rows.map((row) => canonical(row.text))).toEqual(xtrackTexts.map(canonical));
    expect(rows.map((row) => row.seq)).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(rows.map((row) => row.flags)).toEqual([
      [],
      [],
      ["odd_value"],
      [],
      [],
      ["escaped_text"],
      ["unknown_type"],
      [],
    ]);
  });

  test("gives every Cirron row back as the batch had it, page by page in both orders", async () => {
    const sent = batches.flatMap((batch) => {
      const parsed = parseJson(batch);
      const value = (parsed.ok ? parsed.value : {}) as Record<string, JsonValue[]>;
      return ["spans", "marks", "snapshots"].flatMap((kind) => value[kind] ?? []);
    });
    const expected = sent.map((record) => formatJson(sortKeys(record), "lossless"));
    const up = await allEvents("protocol=cirron", 61);
    expect(up.map((row) => canonical(row.text))).toEqual(expected);
    const down = await allEvents("protocol=cirron&order=desc", 1000);
    expect(down.map((row) => row.id)).toEqual(up.map((row) => row.id).reverse());
  });

  test("counts types beside the filter, and finds by type, text, worker and time", async () => {
    const { types, events: metrics } = await events("type=metric&type=metric_batch");
    expect(metrics).toHaveLength(2);
    expect(types).toMatchObject({ metric: 1, metric_batch: 1, brand_new: 1, output: 2, log: 2, span: 184 });
    expect((await events("q=GRÜSSE")).events).toHaveLength(0);
    expect((await events("q=gr%C3%BC%C3%9Fe")).events.map((row) => row.type)).toEqual(["log"]);
    expect((await events("worker=w&type=status")).events).toHaveLength(1);
    expect((await events("worker=nobody")).events).toHaveLength(0);
    const window = "from_ns=1700000000000003000&to_ns=1700000000000005000";
    expect((await events(window)).events.map((row) => row.type)).toEqual(["metric_batch", "param"]);
  });

  test("shows captured output as it was printed", async () => {
    const { events: rows } = await events("protocol=run");
    expect(rows.map(({ text, type, rebuilt }) => [text, type, rebuilt])).toEqual([
      ["first line", "output", false],
      ["second line", "output", false],
    ]);
  });

  test("refuses a cursor that is none", async () => {
    const { status, body } = await walk.get("/api/v1/runs/mixed/events?cursor=nonsense");
    expect([status, (body as { code: string }).code]).toEqual([400, "cursor_invalid"]);
  });
});
