// What the head of a run is made of, where clients send what is legal and rare: numbers of 64 bits among tags, values
// that are not finite, negative zeros, names with an @, one worker that fails before another one ends.

import { expect, test } from "vitest";
import type { Run, RunsAnswer } from "#api/contract/run.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp } from "../support/app.ts";
import { toFrameOfText } from "../support/frames.ts";

const walk = suiteApp();

/** Events of one worker as they are written: type and payload, numbered and timed in order. */
async function send(events: readonly (readonly [type: string, payload: string])[], wid = "w0", startUs = 0) {
  const frames = events.map(([type, payload], at) => {
    const m = `"m":{"seq":${at + 1},"ts":${1_700_000_000_000_000 + startUs + at},"wid":"${wid}"}`;
    return toFrameOfText(`{"v":1,"t":"${type}",${m},"p":${payload}}`);
  });
  const octets = { "content-type": "application/octet-stream" };
  const { status, body } = await walk.post("/v1/xtrack?wait=1", Buffer.concat(frames), octets);
  expect([status, body]).toMatchObject([202, { accepted: frames.length, faults: [] }]);
}

const textOf = async (path: string): Promise<string> => (await fetch(`${walk.app.url}/api/v1${path}`)).text();
const runOf = async (id: string): Promise<Run> => (await walk.get(`/api/v1/runs/${id}`)).body as Run;

async function listRuns(query: Record<string, string>): Promise<RunsAnswer> {
  const { status, body } = await walk.get(`/api/v1/runs?${new URLSearchParams(query)}`);
  expect([status, body]).toMatchObject([200, {}]);
  return body as RunsAnswer;
}

test("integers of 64 bits among tags, environment and source come back with all their digits", async () => {
  const large = "9223372036854775807";
  const tags = `{"job":${large},"huge":123456789012345678901,"in":{"a":[${large}]},"worst":NaN,"zero":-0.0,"text":"x"}`;
  await send([
    ["run_start", `{"run_id":"large","tags":${tags},"env":{"seed":${large}},"source":{"n":{"a":${large}}}}`],
  ]);
  const { runs } = await listRuns({ filter: "id:large" });
  expect(runs[0]?.tags).toEqual([
    `job=${large}`,
    "huge=123456789012345678901",
    `in={"a":[${large}]}`,
    "worst=NaN",
    "zero=-0",
    "text=x",
  ]);
  expect(await runOf("large")).toMatchObject({ env: { seed: large }, source: { n: `{"a":${large}}` } });
  const compared = (await walk.get("/api/v1/compare?run=large")).body;
  expect(compared).toMatchObject({ env: [{ name: "seed", values: [`"${large}"`] }] });
});

test("the traceback is that of the worker that failed, though another one ended later", async () => {
  const error = '{"type":"ValueError","message":"bad batch","traceback":"in train.py, line 7"}';
  await send([["run_start", '{"run_id":"pair"}']], "w1");
  await send(
    [
      ["run_start", '{"run_id":"pair"}'],
      ["run_end", `{"run_id":"pair","status":"failed","error":${error}}`],
    ],
    "w0",
    10,
  );
  await send(
    [
      ["status", '{"run_id":"pair","status":"finishing"}'],
      ["run_end", '{"run_id":"pair","status":"completed"}'],
    ],
    "w1",
    1000,
  );
  expect((await runOf("pair")).error_detail).toEqual(JSON.parse(error));
  expect((await walk.get("/api/v1/runs/pair/post-mortem")).body).toMatchObject({ traceback: "in train.py, line 7" });
});

test("what is not finite and the sign of zero stay what they are in every answer about a run", async () => {
  const metrics = '{"zero":-0.0,"beyond":1e400,"worst":NaN,"words":"none"}';
  await send([
    ["run_start", '{"run_id":"odd"}'],
    ["metric", '{"run_id":"odd","key":"zero","value":-0.0}'],
    ["status", '{"run_id":"odd","status":"training","progress":{"cur":1,"total":Infinity}}'],
    ["checkpoint", `{"run_id":"odd","step":1,"path":"/c","is_best":true,"metrics":${metrics}}`],
    ["run_end", `{"run_id":"odd","status":"completed","final_metrics":${metrics}}`],
  ]);
  const told = '{"zero":-0,"beyond":"Infinity","worst":"NaN"}';
  const run = await textOf("/runs/odd");
  expect(run).toContain(`"final_metrics":${told}`);
  expect(run).toContain(`"metrics":${told}`);
  expect(run).toContain('"progress":{"current":1,"total":"Infinity"');
  expect(await textOf("/runs/odd/checkpoints")).toContain(`"metrics":${told}`);
  const cli = await runInTest(["show", "odd", "--json", "--server", walk.app.url]);
  expect(cli.out).toContain('"zero": -0');
});

test("a live stream keeps the sign of zero", async () => {
  await send([["run_start", '{"run_id":"live"}']]);
  const { as_of } = await runOf("live");
  await send([["metric", '{"run_id":"live","key":"zero","value":-0.0}']], "w0", 10);
  const stop = new AbortController();
  const response = await fetch(`${walk.app.url}/api/v1/live?run=live&after=${as_of}`, { signal: stop.signal });
  let text = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    if (/event: metrics\ndata: .*\n/.test(text)) break;
  }
  stop.abort();
  expect(text).toContain('"value":[-0]');
});

test("a metric whose name has an @ is shown, filtered, sorted and drawn by that name", async () => {
  const points = (id: string, key: string, values: readonly number[], phase = "") =>
    values.map(
      (value, step) =>
        [
          "metric",
          `{"run_id":"${id}","key":"${key}","value":${value},"step":${step},"ctx":${phase === "" ? "{}" : `{"phase":"${phase}"}`}}`,
        ] as const,
    );
  await send([["run_start", '{"run_id":"at-low"}'], ...points("at-low", "recall@10", [0.1, 0.2])]);
  await send([["run_start", '{"run_id":"at-high"}'], ...points("at-high", "recall@10", [0.5, 0.7], "val")]);
  await send([["run_start", '{"run_id":"phased"}'], ...points("phased", "recall", [0.4, 0.9], "10")]);
  const field = "metrics.recall@10.last";
  const asked = { filter: `${field}>0`, sort: `-${field}`, columns: field, spark: "recall@10" };
  const { runs } = await listRuns(asked);
  expect(runs.map(({ id, cells, spark }) => [id, cells[field]?.num, spark?.last])).toEqual([
    ["phased", 0.9, [0.4, 0.9]],
    ["at-high", 0.7, [0.5, 0.7]],
    ["at-low", 0.2, [0.1, 0.2]],
  ]);
  const counted = await listRuns({ filter: "metrics.recall@10.count=2", columns: "metrics.recall@10@val.max" });
  expect(counted.runs.flatMap(({ cells }) => Object.values(cells).map((cell) => cell.num))).toEqual([0.7]);
  expect(counted.total).toBe(3);
});

test("the filter of a group selects its runs and no others, whatever the value", async () => {
  const values = ['"Adam"', '"adam"', '"*"', '"a\\nb"', '"q\\"\\\\"', '"16"', "16.0", "1.6e1", "-0.0", "0"];
  const texts = ['""', '" "', "NaN", '"NaN"', "9007199254740993", "9007199254740992", "null", "[1,2]", '"0x10"'];
  for (const [at, value] of [...values, ...texts].entries())
    await send([
      ["run_start", `{"run_id":"group-${at}","tags":{"t${at % 3}":"x","u":"y"}}`],
      ["param", `{"run_id":"group-${at}","key":"odd name","value":${value}}`],
    ]);
  await send([["run_start", '{"run_id":"group-none"}']]);
  for (const group of ['params."odd name"', "duration", "start", "tags", "protocol", "status"]) {
    const { runs, groups = [] } = await listRuns({ filter: "id~group-*", group, limit: "100" });
    expect(groups.reduce((sum, one) => sum + one.runs, 0)).toBe(values.length + texts.length + 1);
    for (const { value, filter } of groups) {
      const mine = runs.filter((run) => run.group === value).map(({ id }) => id);
      const found = await listRuns({ filter: `id~group-* AND ${filter}`, limit: "100" });
      expect([filter, found.runs.map(({ id }) => id).sort()]).toEqual([filter, mine.sort()]);
    }
  }
});

test("a field is named as the filter language reads it, whatever the name", async () => {
  const names = ['"two\\nlines"', '"tab\\tbed"', '"quo\\"ted"', '"back\\\\slash"', '"é ü"', '"x<1"', '"a.last"'];
  await send([
    ["run_start", '{"run_id":"named"}'],
    ...names.map((name) => ["param", `{"run_id":"named","key":${name},"value":"v"}`] as const),
    ...names.map((name) => ["metric", `{"run_id":"named","key":${name},"value":1}`] as const),
    ["metric", '{"run_id":"named","key":"","value":1}'],
  ]);
  const { fields } = (await walk.get("/api/v1/fields")).body as { fields: { field: string; kind: string }[] };
  const sent = fields.filter(({ kind }) => kind !== "run");
  expect(sent.length).toBeGreaterThan(names.length * 4);
  for (const { field } of sent) {
    const { runs } = await listRuns({ filter: `${field}~*`, columns: field });
    expect([field, runs.map(({ cells }) => Object.keys(cells))]).toEqual([field, runs.map(() => [field])]);
    expect(runs.length).toBeGreaterThan(0);
  }
});

test("a file that was named and stored is listed once, on whatever page it stands", async () => {
  await send([
    ["run_start", '{"run_id":"files"}'],
    ...["a", "b", "c"].map((name) => ["artifact", `{"run_id":"files","path":"/${name}","name":"${name}"}`] as const),
  ]);
  for (const name of ["a", "c", "own"]) {
    const put = await fetch(`${walk.app.url}/v1/runs/files/artifacts/${name}`, { method: "PUT", body: name });
    expect(put.status).toBe(201);
  }
  await walk.app.collector.drained();
  for (const limit of [1, 2, 3, 4]) {
    const names: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor === "" ? {} : { cursor }) });
      const { body } = await walk.get(`/api/v1/runs/files/artifacts?${query}`);
      const page = body as { artifacts: { name: string; stored: boolean }[]; next: string | null };
      names.push(...page.artifacts.map(({ name, stored }) => `${name}${stored ? "+" : ""}`));
      cursor = page.next;
    }
    expect([limit, names]).toEqual([limit, ["a+", "b", "c+", "own+"]]);
  }
});

test("tail ends with a run whose end says something nobody knows", async () => {
  await send([["run_start", '{"run_id":"ends"}']]);
  const tail = runInTest(["tail", "ends", "--server", walk.app.url]);
  await send([["run_end", '{"run_id":"ends","status":"weird-status"}']], "w0", 10);
  expect(await tail).toMatchObject({ code: 0 });
  expect((await runOf("ends")).status).toBe("unknown");
});

test("a fault names the run that its record belongs to, also where a batch carries it", async () => {
  const row = { id: "of-batch", name: "cirron.session", parent_id: null, start_ns: 1, end_ns: 9, pid: 1 };
  const head = { schema_version: 1, sdk_version: "1", batch_id: "batch-1", created_ns: 1, marks: [], snapshots: [] };
  const batch = JSON.stringify({ ...head, spans: [row, { name: "without an id" }] });
  expect((await walk.post("/v1/traces?wait=1", batch)).status).toBe(202);
  await walk.post("/v1/traces?wait=1", "[]");
  const { faults } = (await walk.get("/api/v1/faults")).body as { faults: { code: string; run: string | null }[] };
  expect(faults.map(({ code, run }) => [code, run])).toEqual([
    ["cirron_not_batch", null],
    ["cirron_record", "of-batch"],
  ]);
  expect((await walk.get("/api/v1/runs/of-batch/faults")).body).toMatchObject({ faults: [{ run: "of-batch" }] });
});

test("an empty run in an address names none, so records stay with their own", async () => {
  const frame = toFrameOfText('{"v":1,"t":"run_start","m":{"seq":1,"ts":1},"p":{"run_id":"unnamed"}}');
  expect((await walk.post("/v1/xtrack?wait=1&run=", frame)).status).toBe(202);
  expect(await runOf("unnamed")).toMatchObject({ id: "unnamed", aliases: [] });
});

test("a live stream goes on after a position, and after nothing that somebody made up", async () => {
  const made = ["x", "", "a-1\nevent: gone\ndata: {}", `${"a".repeat(65)}-1`];
  for (const after of made) {
    const { status, body } = await walk.get(`/api/v1/live?${new URLSearchParams({ after })}`);
    expect([after, status, body]).toMatchObject([after, 400, { code: "request_invalid", at: { name: "after" } }]);
  }
});
