// Agents and the whole server: the official client, in both versions of the protocol, over HTTP and over stdio.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, describe, expect, test } from "vitest";
import { tools } from "#agent/tools.ts";
import { type Run, startRun } from "#emit/xtrack.ts";
import { suiteApp } from "../support/app.ts";
import { eventually } from "../support/several.ts";
import { makeSampleFolder, profiledRun } from "../web/sample.ts";

const walk = suiteApp(async () => ({ dataDir: await makeSampleFolder() }));
const clients: Client[] = [];
const runs: Run[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(runs.splice(0).map((run) => run.end({ timeoutMs: 1000 })));
});

const current: VersionNegotiationMode = { pin: "2026-07-28" };
const info = { name: "test", version: "1" };

async function connect(mode: VersionNegotiationMode = current, key = ""): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode } });
  const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", walk.app.url), { requestInit: { headers } }));
  clients.push(client);
  return client;
}

async function spawnMcp(mode: VersionNegotiationMode): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode } });
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const args = [main, "mcp", "--server", walk.app.url];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: walk.dataDir }));
  clients.push(client);
  return client;
}

/** What the tests below read of answers. */
interface Data {
  readonly runs: readonly { readonly id: string }[];
  readonly next: string | null;
  readonly verdicts: readonly object[];
  readonly series: readonly { run: string; x: number[]; max?: number[]; value?: number[] }[];
  readonly metrics: readonly { readonly key: string; readonly before: { readonly step: number } }[];
  readonly spans: readonly { readonly name: string }[];
  readonly params: readonly { readonly name: string }[];
  readonly columns: readonly { readonly name: string }[];
  readonly faults: readonly { readonly raw: string }[];
  readonly logs: readonly object[];
  readonly rows: readonly unknown[];
  readonly to: string;
  readonly step: number;
  readonly cursor: string;
  readonly takes_commands: readonly string[];
  readonly command: { readonly id: string; readonly state: string };
}

interface Answer {
  readonly text: string;
  readonly data: Data;
  readonly isError: boolean;
}

async function ask(client: Client, name: string, input: Record<string, unknown> = {}): Promise<Answer> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
  const [line, json] = (content as { text: string }[]).map(({ text }) => text);
  if (isError !== true) {
    expect(line).not.toContain("\n");
    expect(JSON.parse(json ?? "")).toEqual(structuredContent);
    expect([name, Buffer.byteLength(json ?? "") < 12_000]).toEqual([name, true]);
  }
  return { text: line ?? "", data: structuredContent as unknown as Data, isError: isError === true };
}

async function idOf(client: Client, name: string): Promise<string> {
  const { data } = await ask(client, "list_runs", { filter: `name = "${name}"` });
  return data.runs[0]?.id ?? "";
}

async function createKey(scopes: readonly string[]): Promise<string> {
  const { body } = await walk.post("/api/v1/keys", JSON.stringify({ name: scopes.join("-"), scopes }));
  return (body as { key: string }).key;
}

describe("every client", () => {
  const ways: [string, () => Promise<Client>, string][] = [
    ["of the current version over HTTP", () => connect(current), "2026-07-28"],
    ["of the version before over HTTP", () => connect("legacy"), "2025-11-25"],
    ["of the current version over stdio", () => spawnMcp(current), "2026-07-28"],
    ["of the version before over stdio", () => spawnMcp("legacy"), "2025-11-25"],
  ];

  test.each(ways)(
    "%s is told the order of drilling down, has every tool, and gets answers",
    async (_, open, version) => {
      const client = await open();
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getInstructions()).toContain("Drill down in this order");
      const listed = (await client.listTools()).tools;
      expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
      expect(listed.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name)).toEqual([
        "send_command",
        "annotate",
      ]);
      const { text, data } = await ask(client, "describe_run", { run: await idOf(client, "gpt-diverges-nan") });
      expect(text).toContain("loss (train) is not finite from step 1 on.");
      expect(data.verdicts[0]).toMatchObject({ code: "nonfinite", step: "1" });
      const wrong = await ask(client, "describe_run", { run: "nobody" });
      expect(wrong).toMatchObject({ isError: true });
      expect(wrong.text).toContain('There is no run with the id "nobody". list_runs finds runs');
    },
  );
});

describe("the recorded trainings", () => {
  test("all runs come once, page by page", async () => {
    const client = await connect();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { data } = await ask(client, "list_runs", {
        limit: 6,
        columns: ["params.lr"],
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...data.runs.map(({ id }) => id));
      expect(data.runs.length).toBeLessThanOrEqual(6);
      cursor = data.next;
    } while (cursor !== null);
    const { body } = await walk.get("/api/v1/runs?limit=1000");
    const all = (body as { runs: { id: string }[] }).runs.map(({ id }) => id);
    expect(all.length).toBeGreaterThan(15);
    expect(seen).toEqual(all);
  });

  test("a series has few buckets that keep its extremes, and tells where it is not finite", async () => {
    const client = await connect();
    const run = await idOf(client, "gpt-diverges-nan");
    const { data } = await ask(client, "get_series", { runs: [run, profiledRun], metrics: ["loss"] });
    const [bad] = data.series.filter((one) => one.run === run);
    expect(bad).toMatchObject({ key: "loss", first_nonfinite_between: [0, 1] });
    const other = data.series.find((one) => one.run === profiledRun);
    expect(other?.x.length).toBeLessThanOrEqual(50);
    const { body } = await walk.get(`/api/v1/runs/${profiledRun}/metrics`);
    const metric = (body as { metrics: { key: string; max: number }[] }).metrics.find(({ key }) => key === "loss");
    expect(Math.max(...(other?.max ?? other?.value ?? []))).toBeCloseTo(metric?.max ?? 0, 4);
  });

  test("a step is explained by its metrics and by its spans against what is usual", async () => {
    const client = await connect();
    const { data } = await ask(client, "explain_step", { run: profiledRun, step: 20 });
    const loss = data.metrics.find(({ key }) => key === "loss");
    expect(loss).toMatchObject({ before: { step: expect.any(Number) }, value: expect.any(Number) });
    expect(loss?.before.step).toBeLessThan(20);
    expect(data.spans.map(({ name }) => name)).toContain("forward");
    const byTime = await ask(client, "explain_step", { run: profiledRun, time: data.to });
    expect(byTime.data.step).toBe(20);
    const far = await ask(client, "explain_step", { run: profiledRun, step: 10_000_000 });
    expect(far.text).toMatch(/no points near step 10000000: its steps are \d+ to \d+/);
  });

  test("a step is as long as its span says, although its points are sent in the middle of it", async () => {
    const second = 1_000_000_000;
    const span = (id: string, name: string, from: number, to: number, index: number | null = null) => ({
      ...{ id, name, index, parent_id: name === "cirron.session" ? null : "mid", pid: 1 },
      ...{ start_ns: 1e18 + from * second, end_ns: 1e18 + to * second },
    });
    const mark = (step: number, at: number) => ({
      ...{ id: `mid-m${step}`, span_id: "mid", name: "loss", value_type: "float", value: 1, kind: "point" },
      ...{ attrs: { step }, ts_ns: 1e18 + at * second },
    });
    const batch = {
      ...{ schema_version: 1, sdk_version: "0.3.0", batch_id: "mid", created_ns: 1 },
      spans: [
        span("mid", "cirron.session", 0, 30),
        ...[span("mid-0", "step", 0, 10, 0), span("mid-1", "step", 10, 20, 1), span("mid-2", "step", 20, 30, 2)],
        ...[span("mid-s", "save", 7, 9), span("mid-f", "forward", 12, 14), span("mid-o", "optimizer", 16, 18)],
      ],
      marks: [mark(0, 5), mark(1, 15), mark(2, 25)],
      snapshots: [],
    };
    expect((await walk.post("/v1/traces?wait=1", JSON.stringify(batch))).status).toBe(202);
    const { data } = await ask(await connect(), "explain_step", { run: "mid", step: 1 });
    const names = data.spans.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["forward", "optimizer"]));
    expect(names).not.toContain("save");
  });

  test("the time of a run is broken down, page by page, and a span can be looked at", async () => {
    const client = await connect();
    const first = await ask(client, "time_breakdown", { run: profiledRun, limit: 2 });
    expect(first.data.spans).toHaveLength(2);
    const rest = await ask(client, "time_breakdown", { run: profiledRun, cursor: first.data.next });
    const names = [...first.data.spans, ...rest.data.spans].map(({ name }) => name);
    expect(names).toContain("forward");
    expect(new Set(names).size).toBe(names.length);
    const { body } = await walk.get(`/api/v1/runs/${profiledRun}/spans?name=forward&width=16384`);
    const id = (body as { spans: { id: string[] } }).spans.id.find((one) => one !== "");
    const { data } = await ask(client, "get_span", { run: profiledRun, span: id });
    expect(data).toMatchObject({ id, name: "forward", wall_ms: expect.any(Number) });
  });

  test("of two runs only what differs is told, and where they part", async () => {
    const client = await connect();
    const { data: listed } = await ask(client, "list_runs", {
      filter: 'experiment = "h200-gpt-sweep" AND status:completed',
    });
    const [one, two] = listed.runs.map(({ id }) => id);
    const { data } = await ask(client, "compare_runs", { runs: [one, two] });
    const { body } = await walk.get(`/api/v1/compare?run=${one}&run=${two}&part=params`);
    const differing = (body as { params: { name: string; differs: boolean }[] }).params.filter(
      ({ differs }) => differs,
    );
    expect(data.params.map(({ name }) => name)).toEqual(differing.map(({ name }) => name));
    expect(data.params.length).toBeGreaterThan(0);
    expect(data).toHaveProperty("first_diverging_step");
  });

  test("log lines and faults are found by text, and SQL answers the rest", async () => {
    const client = await connect();
    const bytes = { "content-type": "application/x-ndjson" };
    await walk.post("/v1/trace-stream?wait=1", '{"record_type": "nonsense"\n', bytes);
    expect(await ask(client, "get_alerts", { rule: "nonfinite" })).toMatchObject({ data: { alerts: [], next: null } });
    const faults = await ask(client, "get_faults");
    expect(faults.data.faults[0]?.raw).toContain("nonsense");
    const logs = await ask(client, "search_logs", { run: profiledRun, limit: 1 });
    expect(logs.data.logs.length).toBeLessThanOrEqual(1);
    const schema = await ask(client, "sql_schema", { table: "metrics" });
    expect(schema.data.columns.map(({ name }) => name)).toContain("key");
    const { data } = await ask(client, "sql", {
      query: "SELECT count() FROM runs",
    });
    expect(data.rows).toHaveLength(1);
  });
});

test("wrong input is told in a sentence", async () => {
  const client = await connect();
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ["describe_run", {}, /run/],
    ["describe_run", { run: "x", verbose: true }, /describe_run takes no "verbose", only run/],
    ["list_runs", { filter: "status:" }, /./],
    ["list_runs", { cursor: "nonsense" }, /not a cursor/],
    ["list_runs", { sort: ["nonsense"] }, /nonsense/],
    ["time_breakdown", { run: profiledRun, from: "yesterday" }, /from "yesterday" is no time/],
    ["time_breakdown", { run: profiledRun, cursor: "x" }, /cursor must be/],
    ["get_span", { run: profiledRun, span: "x" }, /no span "x"/],
    ["explain_step", { run: profiledRun }, /Give a step or a time/],
    ["get_command", { run: profiledRun, id: "x" }, /no command "x"/],
    ["annotate", { run: profiledRun }, /Give a text or tags/],
    ["send_command", { run: profiledRun, command: "stop" }, /reason/],
    ["send_command", { run: profiledRun, command: "stop", reason: "over" }, /has ended/],
    ["sql", { query: "DROP TABLE runs" }, /sql_schema/],
    ["sql_schema", { table: "x" }, /no table "x", only .*metrics/],
  ];
  for (const [name, input, sentence] of wrong) {
    const { isError, text } = await ask(client, name, input);
    expect([name, isError, text]).toEqual([name, true, expect.stringMatching(sentence)]);
    expect(text).not.toContain("The server failed");
  }
});

test("what is asked right before the input of tributary mcp ends is answered", async () => {
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, "mcp", "--server", walk.app.url], { cwd: walk.dataDir });
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pipe", version: "1" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "list_runs", arguments: {} } },
    { id: 3, method: "tools/call", params: { name: "describe_run", arguments: { run: profiledRun } } },
  ];
  child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
  const [text] = await Promise.all([readText(child.stdout), once(child, "exit")]);
  const answers = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: number; result?: object });
  expect(answers.map(({ id, result }) => [id, result !== undefined]).sort()).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
});

describe("a key", () => {
  test("that may only read has no tools that act, and cannot call them by name", async () => {
    const client = await connect(current, await createKey(["read"]));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("describe_run");
    for (const name of ["send_command", "annotate", "sql", "sql_schema"]) {
      expect(names).not.toContain(name);
      await expect(client.callTool({ name, arguments: { run: profiledRun } })).rejects.toThrow("not found");
    }
    const control = await connect(current, await createKey(["read", "control"]));
    expect((await control.listTools()).tools.map(({ name }) => name)).toContain("send_command");
  });

  test("that may not read, a wrong one, and a page of another site are refused", async () => {
    const key = await createKey(["ingest"]);
    const post = (headers: Record<string, string>) =>
      walk.post("/mcp", "{}", { "content-type": "application/json", ...headers });
    expect((await post({ authorization: `Bearer ${key}` })).status).toBe(403);
    expect((await post({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post({ origin: "http://evil.example" })).status).toBe(403);
    expect((await walk.post("/mcp", "", { "content-type": "application/json" })).status).toBe(400);
    expect((await fetch(`${walk.app.url}/mcp`, { headers: { accept: "text/event-stream" } })).status).toBe(405);
  });
});

describe("a running job", () => {
  function start(id: string): Run {
    const [host, port] = (walk.app.xtrack[0] as string).split(":") as [string, string];
    const transport = { kind: "tcp", host, port: Number(port) } as const;
    const run = startRun({ id, workerId: "w0", transport, source: false, env: false });
    runs.push(run);
    return run;
  }

  test.each([
    ["over HTTP", () => connect()],
    ["over stdio", () => spawnMcp(current)],
  ])("is watched, stopped with a reason and annotated %s", async (way, open) => {
    const client = await open();
    const id = `watched ${way}`;
    const run = start(id);
    let stopped = false;
    run.on("stop", () => {
      stopped = true;
    });
    run.metric("loss", 2, { step: 1 });
    await eventually(async () => !(await ask(client, "describe_run", { run: id })).isError, "the run did not come");
    await walk.app.collector.drained();
    const { data: begun } = await ask(client, "watch_run", { run: id });
    const quiet = await ask(client, "watch_run", { run: id, cursor: begun.cursor, wait_s: 0 });
    expect(quiet.data.metrics.length).toBeLessThanOrEqual(1);
    const watching = ask(client, "watch_run", { run: id, cursor: quiet.data.cursor, wait_s: 30 });
    run.metric("loss", Number.NaN, { step: 2 });
    const { data: news } = await watching;
    expect(news.metrics.at(-1)).toMatchObject({ key: "loss", last: "NaN", last_step: "2", nonfinite: 1 });
    expect(news.cursor).not.toBe(begun.cursor);

    await eventually(
      async () => (await ask(client, "get_command", { run: id })).data.takes_commands.length === 1,
      "the worker's asking did not come",
    );
    const reason = `loss is NaN from step 2 on, ${way}`;
    const { data: sent } = await ask(client, "send_command", { run: id, command: "stop", reason });
    await eventually(
      async () =>
        (await ask(client, "get_command", { run: id, id: sent.command.id })).data.command.state === "confirmed",
      "the answer did not come",
    );
    expect(stopped).toBe(true);
    const { data: told } = await ask(client, "get_command", { run: id, id: sent.command.id });
    expect(told.command).toMatchObject({ type: "stop", reason });
    await walk.app.collector.drained();
    const { body } = await walk.get("/api/v1/audit");
    const [entry] = (body as { entries: { target: string; detail: string }[] }).entries.filter(
      ({ target }) => target === sent.command.id,
    );
    expect(JSON.parse(entry?.detail ?? "{}")).toMatchObject({ type: "stop", reason });

    await ask(client, "annotate", { run: id, text: "stopped: NaN", step: 2, tags: ["nan"] });
    const { data: noted } = await ask(client, "annotate", { run: id, text: "second" });
    expect(noted).toMatchObject({ notes: "Step 2: stopped: NaN\nsecond", tags: ["nan"] });
  });
});
