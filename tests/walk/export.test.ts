import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createClient } from "#cli/client.ts";
import { importPaths } from "#cli/import/import.ts";
import { suiteApp, type TestApp } from "../support/app.ts";
import { readFewOfSweep } from "../support/few-of-sweep.ts";
import { suiteFolder } from "../support/folder.ts";
import { toFrameOfText } from "../support/frames.ts";

const root = join(import.meta.dirname, "../..");
const octets = { "content-type": "application/octet-stream" };
const [here, there] = [suiteApp(), suiteApp()];
const folder = suiteFolder();

beforeAll(async () => {
  const paths = ["tests/fixtures/cirron/torch_full", "tests/fixtures/cirron/inference"];
  await importInto(
    here,
    [...paths, "tests/fixtures/semantiva/rs_combinatorial_file"].map((path) => join(root, path)),
  );
  const sweep = join(folder, "sweep.xtrack.bin");
  writeFileSync(sweep, readFewOfSweep());
  await importInto(here, [sweep]);
  const spool = join(root, "tests/fixtures/cirron/torch_stats/.cirron/spool");
  for (const name of readdirSync(spool)) await here.post("/v1/runs/named/traces", readFileSync(join(spool, name)));
  const odd = [
    '{"v":1,"t":"run_start","m":{"seq":1,"ts":1700000000000001},"p":{"run_id":{"id":"odd"},"name":"=cmd()"}}',
    '{"v":1,"t":"metric","m":{"seq":2,"ts":1700000000000002},"p":{"run_id":"odd","key":"loss","value":NaN,"step":1}}',
    '{"v":1,"t":"metric","m":{"seq":3,"ts":1700000000000003},"p":{"run_id":"odd","key":"loss","value":18446744073709551615,"step":2}}',
    '{"v":1,"t":"log","m":{"seq":4,"ts":1700000000000004},"p":{"run_id":"odd","level":"info","msg":"=1+1","twice":1,"twice":2}}',
    '{"v":1,"t":"param","m":{"seq":9,"ts":1700000000000009},"p":{"run_id":"odd","key":"lr","value":0.10}}',
  ];
  await here.post("/v1/xtrack", Buffer.concat(odd.map(toFrameOfText)), octets);
  const bad = ["no frame at all", toFrameOfText('{"v":2,"t":"x","m":{"seq":9,"ts":1},"p":{}}')].map((part) =>
    Buffer.from(part),
  );
  await here.post("/v1/xtrack", Buffer.concat([toFrameOfText(odd[0] as string), ...bad]), octets);
  const lonely = { record_type: "run_space_start", schema_version: 1, run_id: "lonely", run_space_launch_id: "lonely" };
  const plan = { run_space_spec_id: "a".repeat(64), run_space_attempt: 1, run_space_combine_mode: "by_position" };
  const line = JSON.stringify({ ...lonely, ...plan, run_space_total_runs: 2 });
  await here.post("/v1/trace-stream", `${line}\n`, { "content-type": "application/x-ndjson" });
  const nameless = [
    '{"v": 1, "t": "run_start", "m": {"seq": 1, "ts": 1700000000000001}, "p": {"run_id": {"id": ""}}}',
    '{"v":1,"t":"log","m":{"seq":2,"ts":1700000000000002},"p":{"run_id":"","level":"info","msg":"mine"}}',
    '{"v":1,"t":"run_end","m":{"seq":3,"ts":1700000000000003},"p":{"run_id":"","status":"killed"}}',
  ];
  await here.post("/v1/xtrack", Buffer.concat(nameless.map(toFrameOfText)), octets);
  const wrapped = '{"n":0,"type":"wrapper_start","ts_ns":"1700000000000000000","payload":{"name":"w"}}\n';
  await here.post("/v1/runs/odd/wrapper?wrapper=w1", wrapped, { "content-type": "application/x-ndjson" });
  const output = "/v1/runs/odd/output?wrapper=w1&stream=stdout&offset=0&at_ns=1700000000000000005";
  await here.post(output, Buffer.from("one\r\ntwo\nbad \xff byte\n", "latin1"), { "content-type": "text/plain" });
  await fetch(`${here.app.url}/v1/runs/odd/artifacts/notes.txt`, { method: "PUT", body: "kept", headers: octets });
  await here.get("/readyz?drained=1");
  await fetch(`${here.app.url}/api/v1/runs/odd`, {
    method: "PATCH",
    body: JSON.stringify({ notes: "looked at", tags: ["a"] }),
    headers: { "content-type": "application/json" },
  });
  await here.post("/api/v1/runs/odd/commands", JSON.stringify({ type: "adjust_lr", payload: { lr: 0.5 } }));
});

function importInto(app: TestApp, paths: string[]) {
  const stop = new AbortController().signal;
  return importPaths({ client: createClient(app.app.url, ""), paths, speed: "instant", follow: false, stop });
}

async function read(app: TestApp, path: string): Promise<Record<string, never>> {
  const { status, body } = await app.get(`/api/v1/${path}`);
  expect([path, status]).toEqual([path, 200]);
  return JSON.parse(JSON.stringify(body, forget)) as Record<string, never>;
}

/** What says when something arrived at this server, and nothing about the run. */
function forget(name: string, value: unknown): unknown {
  return [
    "as_of",
    "received_ns",
    "updated_ns",
    "id",
    "jpos",
    "duplicates",
    "arrival_ns",
    "notes_on_data",
    "edits",
  ].includes(name)
    ? undefined
    : value;
}

async function ids(app: TestApp): Promise<string[]> {
  const { body } = await app.get("/api/v1/runs?limit=1000");
  return (body as { runs: { id: string }[] }).runs.map((run) => run.id).sort();
}

/** The runs that are alone in what they are made of or how they ended, and one of those that are alike. */
async function oneOfEachKind(app: TestApp): Promise<string[]> {
  const { body } = await app.get("/api/v1/runs?limit=1000");
  const { runs } = body as { runs: { id: string; protocols: string[]; status: string }[] };
  const kindOf = ({ id, protocols, status }: (typeof runs)[number]): string =>
    id === "odd" || id === "named" || id.startsWith("x-") ? id : `${protocols} ${status}`;
  return [...Map.groupBy(runs, kindOf).values()].flatMap(([first]) => first?.id ?? []);
}

const pages = ["", "/metrics", "/params", "/spans/summary", "/snapshots", "/logs?limit=1000", "/gaps"];

describe("an export as JSONL", () => {
  test("imported elsewhere gives the same answers, and imported again changes nothing", async () => {
    const response = await fetch(`${here.app.url}/api/v1/export?format=jsonl`);
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    expect(lines.filter((line) => (JSON.parse(line) as { tributary?: number }).tributary !== 1)).toEqual([]);
    const file = join(folder, "runs.jsonl");
    writeFileSync(file, text);
    const result = await importInto(there, [file]);
    expect(result).toMatchObject({ unknown: [], faultCount: 0 });
    const runs = await ids(here);
    expect(runs.length).toBeGreaterThan(10);
    expect(await ids(there)).toEqual(runs);
    const answers = async (app: TestApp, run: string) =>
      Promise.all(pages.map((page) => read(app, `runs/${encodeURIComponent(run)}${page}`)));
    expect(runs.filter((run) => run.startsWith("x-"))).toHaveLength(1);
    for (const run of await oneOfEachKind(here))
      expect([run, await answers(there, run)]).toEqual([run, await answers(here, run)]);
    const verdicts = async (app: TestApp) => {
      const { runs: all } = (await read(app, "completeness")) as unknown as { runs: { run_id: string }[] };
      return all.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1));
    };
    expect(await verdicts(there)).toEqual(await verdicts(here));
    const kept = async (app: TestApp) => {
      const faults = (await read(app, "runs/odd/faults")) as unknown as {
        faults: { code: string; raw_base64: string }[];
      };
      const { commands } = (await app.get("/api/v1/runs/odd/commands")).body as {
        commands: { id: string; type: string; payload: string; by: string; state: string }[];
      };
      return [faults, commands.map(({ id, type, payload, by }) => ({ id, type, payload, by }))] as const;
    };
    expect((await kept(here))[0].faults.map(({ code }) => code)).toEqual(["xtrack_version", "xtrack_bytes_skipped"]);
    expect((await kept(here))[1]).toHaveLength(1);
    expect(await kept(there)).toEqual(await kept(here));
    expect((await there.get("/api/v1/runs/odd/commands")).body).toMatchObject({ commands: [{ state: "expired" }] });
    expect((await there.get("/api/v1/launches/lonely/1")).status).toBe(200);
    const again = await importInto(there, [file]);
    expect(again).toMatchObject({ accepted: 0, faultCount: 0 });
    expect((await importInto(here, [file])).accepted).toBe(0);
    expect(await ids(here)).toEqual(runs);
    expect((await here.get("/api/v1/runs/odd/commands")).body).toMatchObject({ commands: [{ state: "queued" }] });
    // But for the end of the command that was open.
    const sizeOf = (lines: string) =>
      lines
        .split("\n")
        .filter((line) => !line.includes('"kind":"command"'))
        .join("\n").length;
    expect(sizeOf(await (await fetch(`${there.app.url}/api/v1/export`)).text())).toBe(sizeOf(text));
  }, 180_000);

  test("takes tensors and stored files along, byte for byte", async () => {
    const snapshots = join(root, "tests/fixtures/cirron/torch_full/.cirron/snapshots");
    const [span] = readdirSync(snapshots) as [string];
    const [name] = readdirSync(join(snapshots, span)) as [string];
    const tensor = await fetch(`${there.app.url}/v1/traces/blobs/snapshots/${span}/${name}`);
    expect(Buffer.from(await tensor.arrayBuffer()).equals(readFileSync(join(snapshots, span, name)))).toBe(true);
    const file = await fetch(`${there.app.url}/api/v1/runs/odd/artifacts/notes.txt`);
    expect([file.status, await file.text()]).toEqual([200, "kept"]);
  });
});

describe("an export of one kind", () => {
  test("is CSV that no spreadsheet runs, with every row", async () => {
    const text = await (await fetch(`${here.app.url}/api/v1/runs/odd/export?format=csv&kind=logs`)).text();
    const [head, ...rows] = text.trimEnd().split("\r\n");
    expect(head).toMatch(/^run_id,ts_ns,worker,level,logger,msg,/);
    expect(rows).toHaveLength(4);
    expect(rows.find((row) => row.includes("1+1"))).toContain(",'=1+1,");
    const metrics = await (await fetch(`${here.app.url}/api/v1/runs/odd/export?format=csv&kind=metrics`)).text();
    expect(metrics.trimEnd().split("\r\n")).toHaveLength(3);
    expect(metrics).toContain("NaN");
    expect(metrics).toContain("18446744073709551615");
  });

  test("is there for every kind, as Parquet too", async () => {
    const kinds = "runs metrics spans marks snapshots params logs artifacts checkpoints nodes events faults".split(" ");
    for (const kind of kinds) {
      const csv = await fetch(`${here.app.url}/api/v1/export?format=csv&kind=${kind}&filter=protocol:cirron`);
      expect([kind, csv.status, (await csv.text()).slice(0, 6)]).toEqual([kind, 200, "run_id"]);
      const parquet = await fetch(`${here.app.url}/api/v1/runs/named/export?format=parquet&kind=${kind}`);
      const bytes = Buffer.from(await parquet.arrayBuffer());
      expect([kind, bytes.toString("latin1", 0, 4), bytes.toString("latin1", bytes.length - 4)]).toEqual([
        kind,
        "PAR1",
        "PAR1",
      ]);
    }
  });

  test("is refused without a kind, and a trace of several runs is too", async () => {
    expect((await here.get("/api/v1/runs/odd/export?format=csv")).body).toMatchObject({ code: "export_kind" });
    expect((await here.get("/api/v1/export?format=chrome")).body).toMatchObject({ code: "export_format" });
  });
});

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: Record<string, unknown>;
}

describe("an export as a Chrome trace", () => {
  test("has every span as a slice that nests within its track, named processes and threads, and GPU time apart", async () => {
    const { body } = await here.get("/api/v1/runs/named/export?format=chrome");
    const events = (body as { traceEvents: TraceEvent[] }).traceEvents;
    const slices = events.filter((event) => event.ph === "X");
    expect(slices.filter((event) => event.cat === "span")).toHaveLength(184);
    for (const { ts, dur, pid, tid } of slices) {
      expect(ts >= 0 && dur >= 0 && Number.isInteger(pid) && Number.isInteger(tid)).toBe(true);
    }
    for (const track of Map.groupBy(slices, ({ pid, tid }) => `${pid}/${tid}`).values()) {
      const open: number[] = [];
      for (const { ts, dur } of track) {
        while (open.length > 0 && (open.at(-1) as number) <= ts + 1e-6) open.pop();
        if (open.length > 0) expect(ts + dur).toBeLessThanOrEqual((open.at(-1) as number) + 1e-6);
        open.push(ts + dur);
      }
    }
    const named = events.filter((event) => event.ph === "M").map(({ name, pid, tid }) => `${name} ${pid}/${tid}`);
    expect(named).toContain("process_name 0/0");
    for (const { pid, tid } of slices) expect(named).toContain(`thread_name ${pid}/${tid}`);
    expect(events.every((event) => event.ph === "X" || event.ph === "M")).toBe(true);
  });
});
