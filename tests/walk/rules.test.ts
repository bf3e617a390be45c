// Rules over real jobs: each runs in a process of its own, and is really stopped by the rule or left alone.

import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Alert, TriedRule } from "#api/contract/rule.ts";
import { type Run, startRun } from "#emit/xtrack.ts";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";
import { eventually as untilHolds } from "../support/several.ts";
import { failedPipeline, sendSample } from "../web/sample.ts";

const child = join(import.meta.dirname, "../children/watched-job.ts");
const h200 = join(import.meta.dirname, "../../examples/data/h200");
const walk = suiteApp({ watching: "on", watchPrivate: "true", watchPage: "https://tributary.example" });
const received: { headers: IncomingMessage["headers"]; body: string; at: number }[] = [];
let refusals = 0;
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    received.push({ headers: request.headers, body, at: Date.now() });
    response.writeHead(refusals-- > 0 ? 503 : 200).end();
  });
});

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
afterAll(async () => {
  receiver.close();
});

/** Runs a job to its end and gives its exit code. */
async function runJob(
  mode: string,
  id: string,
  steps: number,
  workers: readonly string[] = ["w0"],
): Promise<(number | null)[]> {
  const port = walk.app.xtrack[0]?.split(":").at(-1) ?? "";
  const ends = workers.map(async (worker) => {
    const own = mode === "straggler" ? (worker === "w0" ? "slow" : "healthy") : mode;
    const job = spawn(process.execPath, [child, own, id, worker, port, String(steps)], { stdio: "inherit" });
    const [code] = (await once(job, "exit")) as [number | null];
    return code;
  });
  return Promise.all(ends);
}

const json = { "content-type": "application/json" };
async function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(walk.app.url + path, {
    method,
    ...(body === undefined ? {} : { headers: json, body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}
const define = async (name: string, rule: object) =>
  expect(await call("PUT", `/api/v1/rules/${name}`, rule)).toMatchObject({ status: 200 });
const arm = async (name: string) =>
  expect(await call("POST", `/api/v1/rules/${name}/arm`, { armed: true })).toMatchObject({ status: 200 });

async function alertsOf(run: string, rule: string): Promise<Alert[]> {
  const { body } = await walk.get(`/api/v1/runs/${run}/alerts?rule=${rule}`);
  return (body as { alerts?: Alert[] }).alerts ?? [];
}

async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean, what: string): Promise<T> {
  let value: T | undefined;
  const isThere = async (): Promise<boolean> => {
    value = await read();
    return holds(value);
  };
  await untilHolds(isThere, what, 60_000).catch((cause: unknown) => {
    throw new Error(`${what} did not happen: ${JSON.stringify(value)}`, { cause });
  });
  return value as T;
}

describe("a job", () => {
  test("that turns to NaN is only told of while the rule is a dry run, and is stopped when it is armed", async () => {
    await define("stop-on-nan", { kind: "nonfinite", count: 3, command: ["checkpoint_now", "stop"] });
    expect(await runJob("nan", "nan-dry", 200)).toEqual([0]);
    const [dry] = await eventually(
      () => alertsOf("nan-dry", "stop-on-nan"),
      (found) => found.length > 0,
      "the dry alert",
    );
    expect(dry).toMatchObject({ armed: false, metric: "loss", at: { step: "40" }, outcome: "", deliveries: [] });
    expect(dry?.text).toBe("loss is not finite from step 40 on.");

    await arm("stop-on-nan");
    expect(await runJob("nan", "nan-armed", 6000)).toEqual([7]);
    const done = (found: Alert[]) => found.some(({ outcome }) => outcome !== "");
    const [armed] = await eventually(() => alertsOf("nan-armed", "stop-on-nan"), done, "the outcome");
    expect(armed).toMatchObject({ armed: true, commands: ["checkpoint_now", "stop"] });
    expect(armed?.outcome).toMatch(/^checkpoint_now: confirmed.*; stop: confirmed/);
    const { body } = await walk.get("/api/v1/audit");
    const actions = (body as { entries: { action: string; by: string }[] }).entries;
    expect(actions.map(({ action }) => action)).toEqual(expect.arrayContaining(["rule_set", "rule_armed"]));
    expect(
      actions.filter(({ action, by }) => action === "command_sent" && by.startsWith("rule:stop-on-nan#")),
    ).toHaveLength(2);
  });

  test("that stalls while it is connected is stopped", async () => {
    await define("stop-stalled", { kind: "stall", min: "2s", command: "stop", filter: "id:stalls" });
    await arm("stop-stalled");
    expect(await runJob("stall", "stalls", 6000)).toEqual([7]);
    const isOver = (found: Alert[]) => found.some((one) => one.outcome !== "" && one.resolved_ns !== null);
    const [alert] = await eventually(() => alertsOf("stalls", "stop-stalled"), isOver, "the outcome and the end");
    expect(alert?.text).toMatch(/^No new step for .*: the last was step 40\.$/);
    expect(await alertsOf("nan-armed", "stop-stalled")).toEqual([]);
  });

  test("one of whose ranks is always slower is stopped on all of them", async () => {
    await define("stop-straggler", { kind: "straggler", command: "stop" });
    await arm("stop-straggler");
    expect(await runJob("straggler", "straggles", 6000, ["w0", "w1", "w2"])).toEqual([7, 7, 7]);
    const [alert] = await eventually(
      () => alertsOf("straggles", "stop-straggler"),
      (found) => found.length > 0,
      "it",
    );
    expect(alert?.text).toBe("Worker w0 is a straggler: 3 times as long as the others for a step.");
  });

  test("that is healthy is left alone by every rule, the armed ones too", async () => {
    expect(await runJob("healthy", "healthy", 300, ["w0", "w1"])).toEqual([0, 0]);
    await walk.app.watch?.look();
    const { body } = await walk.get("/api/v1/runs/healthy/alerts");
    expect((body as { alerts: Alert[] }).alerts).toEqual([]);
  });
});

test("of joined runs all are watched, all are stopped, and what was seen of one before stays", async () => {
  const port = Number(walk.app.xtrack[0]?.split(":").at(-1));
  const stopped: string[] = [];
  const runs = ["pair", "pair-part"].map((id) => {
    const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
    const run = startRun({ id, workerId: `${id}-worker`, transport, source: false, env: false });
    run.on("stop", () => void stopped.push(id));
    return run;
  });
  const part = runs[1] as Run;
  const accepting = async (id: string) =>
    ((await walk.get(`/api/v1/runs/${id}/commands`)).body as { accepting?: string[] }).accepting ?? [];
  const bothAccept = async () => [...(await accepting("pair")), ...(await accepting("pair-part"))];
  await eventually(bothAccept, (found) => found.length === 2, "the workers' asking");
  await define("tell-part", { kind: "nonfinite", metric: "part_score", count: 1 });
  part.metric("part_score", Number.NaN, { step: 1 });
  const isThere = (found: Alert[]) => found.length > 0;
  await eventually(() => alertsOf("pair-part", "tell-part"), isThere, "the alert of the part");

  await walk.post("/api/v1/runs/pair/join", JSON.stringify({ ids: ["pair-part"] }));
  expect((await alertsOf("pair", "tell-part")).map(({ run }) => run)).toEqual(["pair-part"]);
  await define("stop-pair", { kind: "nonfinite", metric: "pair_score", count: 3, command: "stop", filter: "id:pair" });
  await arm("stop-pair");
  for (let step = 1; step <= 3; step++) part.metric("pair_score", Number.NaN, { step });
  const isDone = (found: Alert[]) => found.some(({ outcome }) => outcome !== "");
  const [alert] = await eventually(() => alertsOf("pair", "stop-pair"), isDone, "the outcome");
  expect(alert).toMatchObject({ run: "pair", outcome: expect.stringMatching(/^stop: confirmed/) });
  expect(stopped.toSorted()).toEqual(["pair", "pair-part"]);
  // The server is started again on another port, and this one may be given to somebody else's.
  await Promise.all(runs.map((run) => run.end({ timeoutMs: 5000 })));
});

test("a restart forgets nothing that was seen, and does not see it twice", async () => {
  const before = (await walk.get("/api/v1/alerts")).body as { alerts: Alert[] };
  await walk.reopen();
  await walk.app.watch?.look();
  const after = (await walk.get("/api/v1/alerts")).body as { alerts: Alert[] };
  expect(after.alerts).toEqual(before.alerts);
  expect(before.alerts.length).toBeGreaterThanOrEqual(4);
  const { body } = await walk.get("/api/v1/rules");
  const rules = (body as { rules: { name: string; armed: boolean }[] }).rules;
  expect(rules.find(({ name }) => name === "stop-on-nan")?.armed).toBe(true);
});

test("what a rule saw is over when the rule is removed", async () => {
  await define("is-there", { kind: "threshold", when: "id:watched-then-not" });
  const payload = { run_id: "watched-then-not", key: "loss", value: 1, step: 1 };
  const body = toFrame({ type: "metric", seq: 1, ts: Date.now() * 1000, payload });
  await walk.post("/v1/xtrack", body, { "content-type": "application/octet-stream" });
  const alerts = () => alertsOf("watched-then-not", "is-there");
  const isSeen = (found: Alert[]) => found.length > 0;
  expect(await eventually(alerts, isSeen, "the alert")).toMatchObject([{ resolved_ns: null }]);
  expect(await call("DELETE", "/api/v1/rules/is-there")).toMatchObject({ status: 200 });
  await eventually(alerts, ([alert]) => alert?.resolved_ns !== null, "the end");
});

test("a webhook gets the firing signed, again when it was not taken, and that it is resolved", async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  refusals = 1;
  await define("tell-stalled", { kind: "stall", min: "1s", webhook: url, filter: "id:pauses" });
  await arm("tell-stalled");
  const port = Number(walk.app.xtrack[0]?.split(":").at(-1));
  const run = startRun({
    id: "pauses",
    transport: { kind: "tcp", host: "127.0.0.1", port },
    source: false,
    env: false,
  });
  for (let step = 0; step < 30; step++) run.metric("loss", 1, { step });
  const statuses = () => received.map(({ body }) => (JSON.parse(body) as { status: string }).status);
  await eventually(
    async () => statuses(),
    (all) => all.filter((status) => status === "firing").length === 2,
    "the retry",
  );
  let step = 30;
  const going = setInterval(() => run.metric("loss", 1, { step: step++ }), 50);
  await eventually(
    async () => statuses(),
    (all) => all.includes("resolved"),
    "the resolution",
  );
  clearInterval(going);
  await run.end({ timeoutMs: 5000 });
  const [first, second] = received as [(typeof received)[number], (typeof received)[number]];
  expect(second.at - first.at).toBeGreaterThan(4000);
  expect(second.headers["x-tributary-delivery"]).toBe(first.headers["x-tributary-delivery"]);
  const { version, alerts } = JSON.parse(second.body) as { version: string; alerts: Record<string, never>[] };
  expect(version).toBe("4");
  expect(alerts[0]).toMatchObject({
    labels: { alertname: "tell-stalled", run: "pauses", kind: "stall" },
    generatorURL: "https://tributary.example/runs/pauses",
  });
  const secret = readFileSync(join(walk.dataDir, "watch-secret"));
  const [, seconds, sign] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(second.headers["x-tributary-signature"])) ?? [];
  expect(createHmac("sha256", secret).update(`${seconds}.${second.body}`).digest("hex")).toBe(sign);
  const isSent = ([one]: Alert[]) => one?.deliveries.every(({ state }) => state === "sent") === true;
  const isTold = (found: Alert[]) => found[0]?.deliveries.length === 2 && isSent(found);
  const [alert] = await eventually(() => alertsOf("pauses", "tell-stalled"), isTold, "the record of both messages");
  expect(alert?.deliveries.map(({ event, state, attempts }) => [event, state, attempts])).toEqual([
    ["firing", "sent", 2],
    ["resolved", "sent", 1],
  ]);
});

test("rules tried on recorded trainings and pipelines fire where they should and nowhere else", async () => {
  await sendSample(walk);
  const spool = join(h200, "cirron-full/.cirron/spool");
  for (const name of readdirSync(spool)) await walk.post("/v1/runs/full/traces", readFileSync(join(spool, name)));
  await walk.app.collector.drained();
  const { body } = await walk.get("/api/v1/rules");
  const builtIn = (body as { rules: { name: string; origin: string }[] }).rules.filter(
    ({ origin }) => origin === "built-in",
  );
  // Two that are not built in, as they are by default.
  const tries = [
    ...builtIn.map(({ name }) => ({ name })),
    { rule: { kind: "slow" } },
    { rule: { kind: "no_checkpoint" } },
  ];
  const filter = "experiment:h200-gpt-sweep OR id:full OR protocol:semantiva";
  const fired: Record<string, string[]> = {};
  for (const one of tries) {
    const answer = await call("POST", "/api/v1/rules/test", { ...one, runs: 100, filter });
    const { tried } = answer.body as { tried: TriedRule[] };
    expect(tried).toHaveLength(25);
    const names = tried.filter((run) => run.fired).map((run) => run.name);
    fired["rule" in one ? one.rule.kind : one.name] = names.toSorted();
  }
  const silent = Object.fromEntries(Object.keys(fired).map((name) => [name, []]));
  expect(fired).toEqual({ ...silent, nonfinite: ["gpt-diverges-nan"], failed: ["gpt-fails", failedPipeline] });
});
