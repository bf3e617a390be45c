// Numbers at the ends of what 64 bits and doubles hold, through every answer that adds them up.

import { expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

const greatest = "9223372036854775807";
const octets = { "content-type": "application/octet-stream" };

const walk = suiteApp();

async function get<T>(path: string): Promise<T> {
  const { status, body } = await walk.get(`/api/v1/${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body as T;
}

const frame = (t: string, seq: bigint, fields: string): Buffer =>
  toFrameOfText(`{"v":1,"t":"${t}","m":{"seq":${seq},"ts":${1_700_000_000_000_000n + (seq % 1000n)}},"p":{${fields}}}`);

test("spans of a clock that was not set are summed up without beginning again below zero", async () => {
  const session = { id: "s", name: "cirron.session", parent_id: null, start_ns: 0, end_ns: 0, pid: 1 };
  const decades = Array.from({ length: 6 }, (_, at) => ({
    ...{ id: `d${at}`, name: "step", parent_id: "s", start_ns: 0, end_ns: 0, pid: 1, gpu_ns: 0 },
  }));
  const body = { schema_version: 1, batch_id: "decades", spans: [session, ...decades], marks: [], snapshots: [] };
  const text = JSON.stringify(body)
    .replaceAll('"end_ns":0', '"end_ns":1794710000000000000')
    .replaceAll('"gpu_ns":0', '"gpu_ns":1794710000000000000');
  await walk.post("/v1/runs/decades/traces?wait=1", text);
  const { rows } = await get<{ rows: { name: string }[] }>("runs/decades/spans/summary");
  expect(rows.find(({ name }) => name === "step")).toMatchObject({ count: 6, wall_ns: greatest, gpu_ns: greatest });
  const compared = await get<object>("compare?run=decades&run=decades");
  expect(JSON.stringify(compared)).toContain(`"wall_ns":["${greatest}"`);
});

test("a worker that jumps ahead misses as many events in the list of runs as in its gaps", async () => {
  const jumps = [1n, 6_000_000_000n].map((seq) => frame("log", seq, '"run_id":"jump","level":"info","msg":"m"'));
  await walk.post("/v1/xtrack?wait=1", Buffer.concat(jumps), octets);
  expect(await get("runs/jump/gaps")).toMatchObject({ missing: 5_999_999_998 });
  const { runs } = await get<{ runs: { id: string; integrity: object }[] }>("runs?limit=100");
  expect(runs.find(({ id }) => id === "jump")?.integrity).toMatchObject({ missing: 5_999_999_998 });
  expect(await get("runs/jump")).toMatchObject({ counts: { missing: 5_999_999_998 } });
});

test("the mean of the greatest doubles is no infinity", async () => {
  const values = [1.7e308, 1.6e308, -1.2e308, 1.5e308].map((value, at) =>
    frame("metric", BigInt(at + 1), `"run_id":"huge","key":"loss","value":${value},"step":${at}`),
  );
  await walk.post("/v1/xtrack?wait=1", Buffer.concat(values), octets);
  const { series } = await get<{ series: { mean: number[] }[] }>("runs/huge/metrics/loss?buckets=1");
  expect(series[0]?.mean[0]).toBeCloseTo(9e307, -300);
});

test("the step at which two runs part has all its digits", async () => {
  // Neighbouring steps that are one double.
  const first = 9_007_199_254_740_993n;
  for (const [run, last] of [
    ["parts", 1],
    ["stays", 9],
  ] as const) {
    const values = Array.from({ length: 10 }, (_, at) =>
      frame(
        "metric",
        BigInt(at + 1),
        `"run_id":"${run}","key":"loss","value":${at < 8 ? 1 : last},"step":${first + BigInt(at)}`,
      ),
    );
    await walk.post("/v1/xtrack?wait=1", Buffer.concat(values), octets);
  }
  const { divergence } = await get<{ divergence: { step: string }[] }>("compare?run=parts&run=stays&key=loss");
  expect(divergence).toMatchObject([{ step: String(first + 8n) }]);
});

test("the audit of a command has the digits that were sent", async () => {
  const payload = '{"seed":9007199254740993,"lr":0.1}';
  const body = `{"type":"adjust_lr","payload":${payload}}`;
  const sent = await walk.post("/api/v1/runs/huge/commands", body);
  expect(sent.status).toBeLessThan(300);
  await walk.get("/readyz?drained=1");
  const audit = await get<{ entries: { action: string; detail: string }[] }>("audit?limit=10");
  expect(JSON.stringify(audit)).toContain(JSON.stringify(payload).slice(1, -1));
});

test("a rule has the digits of its command's payload, over a restart too", async () => {
  const rule = '{"kind":"nonfinite","command":"adjust_lr","payload":{"lr":9007199254740993}}';
  const put = (path: string, body: string) =>
    fetch(`${walk.app.url}/api/v1/rules/${path}`, {
      method: "PUT",
      body,
      headers: { "content-type": "application/json" },
    });
  const answer = await put("wide", rule);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"lr":9007199254740993}')]);
  await walk.reopen();
  const rules = await (await fetch(`${walk.app.url}/api/v1/rules`)).text();
  expect(rules).toContain('"lr":9007199254740993}');
});

test("a time of an imported command that 64 bits do not hold is refused", async () => {
  const step = { id: "c1", worker: "", type: "stop", payload: "{}", state: "queued", reason: "", by: "a" };
  const commands = [{ ...step, at_ns: "99999999999999999999", expires_ns: "1" }];
  const { status, body } = await walk.post("/api/v1/runs/huge/history", JSON.stringify({ commands }));
  expect([status, body]).toMatchObject([400, { code: "request_invalid" }]);
});
