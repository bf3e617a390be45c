import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Run } from "#api/contract/run.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp, testApp } from "../support/app.ts";
import { type BatchSpan, hex, toBatchText } from "../support/cirron-batch.ts";
import { readFewOfSweep } from "../support/few-of-sweep.ts";
import { makeFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";

const root = join(import.meta.dirname, "../..");
const spool = join(root, "tests/fixtures/cirron/torch_stats/.cirron/spool");
const walk = suiteApp();

beforeAll(async () => {
  await walk.post("/v1/xtrack?wait=1", readFewOfSweep(), { "content-type": "application/octet-stream" });
  for (const name of readdirSync(spool))
    await walk.post("/v1/runs/profile/traces?wait=1", readFileSync(join(spool, name)));
});

async function ids(query = ""): Promise<string[]> {
  const { body } = await walk.get(`/api/v1/runs?limit=200${query}`);
  return (body as { runs: { id: string }[] }).runs.map((run) => run.id);
}

async function runOf(id: string): Promise<Run> {
  return (await walk.get(`/api/v1/runs/${id}`)).body as Run;
}

function joinTo(id: string, ...others: string[]) {
  return walk.post(`/api/v1/runs/${id}/join`, JSON.stringify({ ids: others }));
}

function part(id: string) {
  return walk.post(`/api/v1/runs/${id}/part`, "{}");
}

function send(run: string | null, batch: string, spans: readonly BatchSpan[]) {
  return walk.post(run === null ? "/v1/traces?wait=1" : `/v1/runs/${run}/traces?wait=1`, toBatchText(batch, spans));
}

const span = (id: string, parent: string | null, name: string, at: number): BatchSpan => ({ id, parent, name, at });

test("two runs are one for every question, and two again when they are parted", async () => {
  const before = await ids();
  const others = before.filter((id) => id !== "profile");
  const training = others[0] as string;
  const [whole, profile] = [await runOf(training), await runOf("profile")];
  const profileSpans = (await walk.get("/api/v1/runs/profile/spans/summary")).body as { rows: unknown[] };
  expect(profileSpans.rows.length).toBeGreaterThan(0);
  const answer = await joinTo(training, "profile");
  expect(answer).toMatchObject({ status: 200, body: { id: training, joined: [{ id: "profile" }] } });
  expect(new Set(await ids())).toEqual(new Set(others));
  const joined = await runOf("profile");
  expect(joined).toMatchObject({ id: training, protocols: ["cirron", "xtrack"] });
  expect(joined.counts.spans).toBe(whole.counts.spans + profile.counts.spans);
  expect(joined.counts.metrics).toBe(whole.counts.metrics + profile.counts.metrics);
  const spans = (await walk.get(`/api/v1/runs/${training}/spans/summary`)).body as { rows: unknown[] };
  expect(spans.rows).toEqual(profileSpans.rows);
  const query = `SELECT DISTINCT run_id FROM spans WHERE run_id IN ('profile', '${training}')`;
  expect((await walk.post("/api/v1/sql", JSON.stringify({ query }))).body).toMatchObject({ rows: [[training]] });

  expect(await joinTo(training, "profile")).toMatchObject({ status: 409, body: { code: "runs_joined_already" } });
  await walk.reopen();
  expect(new Set(await ids())).toEqual(new Set(others));
  expect((await runOf(training)).counts.spans).toBe(joined.counts.spans);

  expect(await part("profile")).toMatchObject({ status: 200, body: { parted: ["profile"] } });
  expect(new Set(await ids())).toEqual(new Set(before));
  expect((await runOf(training)).counts).toEqual(whole.counts);
  expect((await runOf("profile")).counts).toEqual(profile.counts);
  expect(await part("profile")).toMatchObject({ status: 409, body: { code: "run_not_joined" } });
});

test("what comes later counts to the joined run, live and after a restart", async () => {
  await send("left", "left one", [span("l1", null, "epoch", 1)]);
  await send("right", "right one", [span("r1", null, "epoch", 2)]);
  await joinTo("left", "right");
  const gone = new AbortController();
  const { as_of: after } = await runOf("left");
  const live = await fetch(`${walk.app.url}/api/v1/live?run=left&after=${after}`, { signal: gone.signal });
  await send("right", "right two", [span("r2", null, "epoch", 3)]);
  let text = "";
  for await (const chunk of live.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("event: metrics")) break;
  }
  gone.abort();
  expect(JSON.parse(/event: metrics\ndata: (.*)\n/.exec(text)?.[1] as string)).toMatchObject({ run: "left" });
  expect((await runOf("left")).counts.spans).toBe(3);
  await walk.reopen();
  await send("right", "right three", [span("r3", null, "epoch", 4)]);
  expect((await runOf("left")).counts.spans).toBe(4);
  expect(await ids("&filter=id:right")).toEqual([]);
});

test("a run that is joined brings along what was joined to it, and parting by the whole frees all", async () => {
  await send("third", "third one", [span("t1", null, "epoch", 5)]);
  await joinTo("third", "left");
  expect(await runOf("right")).toMatchObject({ id: "third", joined: [{ id: "left" }, { id: "right" }] });
  expect(await part("third")).toMatchObject({ body: { parted: ["left", "right"] } });
  expect(new Set(await ids("&filter=id:left OR id:right OR id:third"))).toEqual(new Set(["left", "right", "third"]));
});

test("stays joined when a late span says what the run is called", async () => {
  // The parent of these spans has not come: the run has the parent's id until it does.
  await send(null, "early", [span("child", "epoch", "step", 90_000_002_000)]);
  const early = hex("epoch");
  expect(await ids(`&filter=id:${early}`)).toEqual([early]);
  await joinTo("third", early);
  await send(null, "late", [
    span("epoch", "session", "epoch", 90_000_001_000),
    span("session", null, "cirron.session", 90_000_000_000),
  ]);
  const late = hex("session");
  expect(await runOf(late)).toMatchObject({ id: "third" });
  expect(await ids(`&filter=id:${late}`)).toEqual([]);
  await walk.reopen();
  expect(await runOf(late)).toMatchObject({ id: "third" });
});

test("an export of joined runs comes back as one run", async () => {
  await joinTo("left", "right");
  const lines = await (await fetch(`${walk.app.url}/api/v1/runs/left/export?format=jsonl`)).text();
  const folder = makeFolder();
  const file = join(folder, "left.jsonl");
  writeFileSync(file, lines);
  const other = await testApp();
  const imported = await runInTest(["import", file, "--server", other.app.url]);
  expect(imported.code, imported.err).toBe(0);
  const { body } = await other.get("/api/v1/runs");
  expect(body).toMatchObject({ runs: [{ id: "left" }] });
  expect((await other.get("/api/v1/runs/left")).body).toMatchObject({ counts: { spans: 4 } });
});

test("deleting a joined run deletes all of it, and what comes again is on its own", async () => {
  expect((await fetch(`${walk.app.url}/api/v1/runs/left`, { method: "DELETE" })).status).toBe(200);
  expect((await walk.get("/api/v1/runs/right")).status).toBe(404);
  await send("right", "right one", [span("r1", null, "epoch", 2)]);
  expect(await ids("&filter=id:left OR id:right")).toEqual(["right"]);
});

test("the command line joins and parts, and the audit has both", async () => {
  const server = ["--server", walk.app.url];
  const joined = await runInTest(["join", "third", "right", ...server]);
  expect(joined).toMatchObject({ code: 0, out: "third is made of 4 runs now.\n" });
  expect((await runInTest(["show", "third", ...server])).out).toContain("right");
  const parted = await runInTest(["part", "right", ...server]);
  expect(parted).toMatchObject({ code: 0, out: "On its own again: right.\n" });
  expect(await runInTest(["join", "third", ...server])).toMatchObject({ code: 2 });
  const { body } = await walk.get("/api/v1/audit");
  const { entries } = body as { entries: { action: string; target: string }[] };
  const actions = entries.filter(({ target }) => target === "third").map(({ action }) => action);
  expect(new Set(actions)).toEqual(new Set(["runs_joined", "runs_parted"]));
});

test("an earlier id leads to its run, and beside it to a run that has it for its own", async () => {
  const at = 500_000_000_000;
  await send(null, "before", [span("leaf", "trunk", "step", at + 2000)]);
  await send(null, "after", [span("trunk", "root", "epoch", at + 1000), span("root", null, "cirron.session", at)]);
  const [trunk, root] = [hex("trunk"), hex("root")];
  const pointsOf = async (id: string) => {
    const { body } = await walk.post("/api/v1/series", JSON.stringify({ runs: [id], keys: ["loss"], axis: "time" }));
    return (body as { series: { run: string }[] }).series.map(({ run }) => run);
  };
  expect(await runOf(trunk)).toMatchObject({ id: root, also: [] });
  expect(await pointsOf(trunk)).toEqual([trunk]);
  const frame = toFrame({
    type: "metric",
    seq: 1,
    ts: 1_794_710_000_000_000,
    payload: { run_id: trunk, key: "own", value: 1 },
  });
  await walk.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
  expect(await runOf(trunk)).toMatchObject({ id: trunk, also: [root], protocols: ["xtrack"] });
  expect(await pointsOf(trunk)).toEqual([]);
  expect(await runOf(root)).toMatchObject({ id: root, also: [] });
});
