// The example programs, started as a person would start them, against the whole server.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { suiteFolder } from "../support/folder.ts";
import { eventually } from "../support/several.ts";

const walk = suiteApp();
const folder = suiteFolder();
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
});

function start(example: string, args: readonly string[], env: Record<string, string>) {
  const program = resolve(import.meta.dirname, "../../examples", example);
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  return new Promise<{ code: number | null; output: string }>((done) => {
    child.on("close", (code) => done({ code, output }));
  });
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  await walk.app.collector.drained();
  return askStore(walk.app.collector.store, { sql });
}

test("the training arrives whole: canonical scopes, marks, tensors with their blobs", async () => {
  const { code, output } = await start("training/train.ts", ["4"], {
    CIRRON_API_ENDPOINT: walk.app.url,
    CIRRON_INGEST_PATH: "/v1/runs/spirals/traces",
    CIRRON_SNAPSHOTS: "full",
  });
  expect([code, output]).toEqual([0, expect.stringContaining("epoch 3: loss")]);
  const spans = await query("SELECT name, count() AS n FROM tributary_sql.TraceSpan GROUP BY name ORDER BY name");
  expect(Object.fromEntries(spans.map(({ name, n }) => [name, Number(n)]))).toEqual({
    "cirron.session": 1,
    load: 1,
    epoch: 4,
    step: 64,
    data_load: 64,
    forward: 64,
    backward: 64,
    optimizer_step: 64,
  });
  const [loss] = await query(
    "SELECT count() AS n, argMin(valueFloat, tsNs) AS first, argMax(valueFloat, tsNs) AS last FROM tributary_sql.TraceMark WHERE name = 'loss'",
  );
  expect(Number(loss?.["n"])).toBe(64);
  expect(Number(loss?.["last"])).toBeLessThan(Number(loss?.["first"]));
  const snapshots = await query(
    "SELECT count() AS n, countIf(blobUri IS NOT NULL) AS blobs, uniqExact(tensorName) AS tensors FROM tributary_sql.TraceSnapshot",
  );
  expect(snapshots).toEqual([{ n: "32", blobs: "32", tensors: "8" }]);
  expect((await walk.get("/api/v1/runs/spirals")).body).toMatchObject({ status: "completed" });
});

test("the job is paused, changed, refused, resumed and stopped by commands", async () => {
  const [address] = walk.app.xtrack as [string];
  const ended = start("steerable-job/job.ts", ["100000", "2"], {
    XTRACK_TRANSPORT: "tcp",
    XTRACK_HOST: "127.0.0.1",
    XTRACK_PORT: address.slice(address.lastIndexOf(":") + 1),
    XTRACK_EXPERIMENT: "steered",
  });
  interface Listing {
    readonly runs: readonly { readonly id: string; readonly name: string; readonly status: string }[];
  }
  const find = async () =>
    ((await walk.get("/api/v1/runs")).body as Listing).runs.find(
      ({ name, status }) => name === "steerable spirals" && status === "running",
    );
  await eventually(async () => (await find()) !== undefined, "the run did not come");
  const id = (await find())?.id ?? "";
  const path = `/api/v1/runs/${id}/commands`;
  interface Commands {
    readonly accepting: readonly string[];
    readonly commands: readonly { readonly id: string; readonly state: string; readonly note: string }[];
  }
  const commands = async () => (await walk.get(path)).body as Commands;
  await eventually(async () => (await commands()).accepting.length > 0, "a worker that takes commands did not come");
  // A pause that comes before the first step would leave no point with the rate that the job began with.
  const first = "SELECT count() AS n FROM tributary.metrics WHERE key = 'lr'";
  await eventually(async () => Number((await query(first))[0]?.["n"]) > 0, "the job made no step");
  const obeyed = async (body: object) => {
    const sent = (await walk.post(path, JSON.stringify(body))).body as { id: string };
    let last: Commands["commands"][number] | undefined;
    await eventually(
      async () => {
        last = (await commands()).commands.find((command) => command.id === sent.id);
        return last?.state === "confirmed" || last?.state === "refused";
      },
      `an answer to ${JSON.stringify(body)}`,
    );
    return last;
  };
  expect(await obeyed({ type: "pause" })).toMatchObject({ state: "confirmed" });
  expect(await obeyed({ type: "adjust_lr", payload: { lr: 0.3 } })).toMatchObject({ state: "confirmed" });
  expect(await obeyed({ type: "adjust_lr", payload: { lr: -1 } })).toMatchObject({
    state: "refused",
    note: "lr must be a number between 0 and 10",
  });
  expect(await obeyed({ type: "resume" })).toMatchObject({ state: "confirmed" });
  expect(await obeyed({ type: "checkpoint_now" })).toMatchObject({ state: "confirmed" });
  expect(await obeyed({ type: "stop" })).toMatchObject({ state: "confirmed" });
  const { code, output } = await ended;
  expect([code, output]).toEqual([0, expect.stringMatching(/^stopped after \d+ steps/)]);
  await walk.app.collector.drained();
  expect((await walk.get(`/api/v1/runs/${id}`)).body).toMatchObject({ status: "killed" });
  const rates = await query("SELECT DISTINCT value FROM tributary.metrics WHERE key = 'lr' ORDER BY value");
  expect(rates.map(({ value }) => value)).toEqual([0.02, 0.3]);
});

test("the job under capture is steered too, though its standard input has ended", async () => {
  const program = resolve(import.meta.dirname, "../../examples/steerable-job/job.ts");
  const main = resolve(import.meta.dirname, "../../src/main.ts");
  const args = ["run", "--server", walk.app.url, "--data", join(folder, "captured"), "--run-id", "captured", "--"];
  const child = spawn(process.execPath, [main, ...args, process.execPath, program, "100000", "2"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  const ended = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  const path = "/api/v1/runs/captured/commands";
  const isAccepting = async () => {
    const { body } = await walk.get(path);
    return ((body as { accepting?: readonly string[] }).accepting?.length ?? 0) > 0;
  };
  await eventually(isAccepting, "a worker that takes commands did not come");
  await walk.post(path, JSON.stringify({ type: "stop" }));
  expect(await ended).toBe(0);
  expect(Buffer.concat(output).toString()).toMatch(/^stopped after \d+ steps/);
});

test("the pipeline's launch is complete, and its runs have all their nodes", async () => {
  const { code } = await start("pipeline/pipeline.ts", [], {});
  expect(code).toBe(0);
  const names = readdirSync(join(folder, "traces")).sort();
  expect(names).toHaveLength(5);
  const lines = Buffer.concat(names.map((name) => readFileSync(join(folder, "traces", name))));
  const answer = await walk.post("/v1/trace-stream?wait=1", lines, { "content-type": "application/x-ndjson" });
  expect(answer).toMatchObject({ status: 202, body: { accepted: 2 + 4 * 7, duplicates: 0, faults: [] } });
  const launchId = /runspace-([0-9a-f]+)\./.exec(names.join())?.[1];
  expect((await walk.get(`/api/v1/launches/${launchId}/1`)).body).toMatchObject({
    completeness: { status: "complete", problems: [] },
  });
  const runId = /(run-[0-9a-f]+)\./.exec(names.join())?.[1];
  expect((await walk.get(`/api/v1/runs/${runId}/completeness`)).body).toMatchObject({
    status: "complete",
    missing_nodes: [],
    orphan_nodes: [],
    summary: { nodes_total_expected: 5, nodes_observed: 5 },
  });
});
