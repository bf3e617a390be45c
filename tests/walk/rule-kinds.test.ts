// Every kind of rule over what a run really sent, through the real engine: it fires where it should, once, with its words.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Alert } from "#api/contract/rule.ts";
import { suiteApp } from "../support/app.ts";
import { type Frame, toFrame } from "../support/frames.ts";

const second = 1_000_000;
const octets = { "content-type": "application/octet-stream" };
const walk = suiteApp({ watching: "on", runSilenceMs: "3s" });

/** Events of one worker, numbered as they come; times are in seconds. */
function runOf(id: string, events: readonly (Pick<Frame, "type" | "payload"> & { readonly at: number })[]): Buffer {
  const start = { type: "run_start", at: 0, payload: {} };
  const startUs = Date.now() * 1000 - 3600 * second;
  return Buffer.concat(
    [start, ...events].map(({ type, at, payload }, index) =>
      toFrame({ type, seq: index + 1, ts: startUs + at * second, wid: "w0", payload: { run_id: id, ...payload } }),
    ),
  );
}

const metric = (key: string, value: number, step: number, at: number) => ({
  type: "metric",
  at,
  payload: { key, value, step },
});
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const losses = (count: number) => many(count, (at) => metric("loss", 1, at, at));

async function send(body: Buffer): Promise<void> {
  expect((await walk.post("/v1/xtrack?wait=1", body, octets)).status).toBe(202);
}

async function define(name: string, rule: object): Promise<void> {
  const answer = await fetch(`${walk.app.url}/api/v1/rules/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...rule, filter: `id:${name}*` }),
  });
  expect(answer.status).toBe(200);
}

async function alertsOf(run: string, rule: string): Promise<Alert[]> {
  await walk.app.watch?.look();
  const { body } = await walk.get(`/api/v1/runs/${run}/alerts?rule=${rule}`);
  return (body as { alerts?: Alert[] }).alerts ?? [];
}

const slower = (count: number) => {
  let at = 0;
  return many(count, (step) => {
    at += step < count / 2 ? 1 : 2;
    return metric("loss", 1, step, at);
  });
};

const kinds: readonly [
  kind: string,
  options: object,
  fires: (id: string) => Buffer,
  silent: (id: string) => Buffer,
  words: RegExp,
][] = [
  [
    "threshold",
    { when: "metrics.loss.last>5" },
    (id) => runOf(id, [metric("loss", 9, 1, 1)]),
    (id) => runOf(id, [metric("loss", 4, 1, 1)]),
    /matches metrics\.loss\.last>5/,
  ],
  [
    "gap",
    { for: "0s" },
    (id) =>
      Buffer.concat([
        runOf(id, []),
        toFrame({
          type: "metric",
          seq: 9,
          ts: Date.now() * 1000,
          wid: "w0",
          payload: { run_id: id, key: "a", value: 1 },
        }),
      ]),
    (id) => runOf(id, losses(3)),
    /^7 records are missing\.$/,
  ],
  [
    "fault",
    {},
    (id) => Buffer.concat([runOf(id, losses(3)), toFrame({ type: "metric", seq: 9, ts: 9, payload: { run_id: id } })]),
    (id) => runOf(id, losses(3)),
    /^One record could not be understood\.$/,
  ],
  ["slow", { window: 50 }, (id) => runOf(id, slower(240)), (id) => runOf(id, losses(240)), /^Steps have become slower/],
  [
    "memory_creep",
    { window: 100 },
    (id) =>
      runOf(
        id,
        many(200, (at) => metric("system/memory_bytes", 1e9 + at * 1e7, at, at)),
      ),
    (id) =>
      runOf(
        id,
        many(200, (at) => metric("system/memory_bytes", 1e9, at, at)),
      ),
    /memory_bytes/,
  ],
  [
    "idle_gpu",
    { for: "0s" },
    (id) =>
      runOf(
        id,
        many(40, (at) => metric("system/gpu0_percent", 1, at, at * 10)),
      ),
    (id) =>
      runOf(
        id,
        many(40, (at) => metric("system/gpu0_percent", 90, at, at * 10)),
      ),
    /GPU|gpu/,
  ],
  [
    "no_checkpoint",
    { min: "60s" },
    (id) => runOf(id, losses(120)),
    (id) => runOf(id, [...losses(120), { type: "checkpoint", at: 119, payload: { path: "/c", step: 119 } }]),
    /checkpoint/,
  ],
  [
    "failed",
    {},
    (id) =>
      runOf(id, [
        {
          type: "run_end",
          at: 5,
          payload: { status: "failed", exit_code: 1, error: { type: "E", message: "m".repeat(9000) } },
        },
      ]),
    (id) => runOf(id, [{ type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } }]),
    /^The run failed: E: m{297}…$/,
  ],
  [
    "finished",
    {},
    (id) => runOf(id, [{ type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } }]),
    (id) => runOf(id, [{ type: "run_end", at: 5, payload: { status: "failed", exit_code: 1 } }]),
    /^The run completed\.$/,
  ],
  [
    "lost",
    {},
    (id) => runOf(id, losses(3)),
    (id) => runOf(id, [...losses(3), { type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } }]),
    /^Nothing is heard of the run any more/,
  ],
];

async function expectOneAlert(name: string, rule: object, fires: Buffer, silent: Buffer, words: RegExp): Promise<void> {
  await define(name, rule);
  await send(silent);
  await send(fires);
  await expect.poll(() => alertsOf(`${name}-fires`, name), { timeout: 30_000, interval: 200 }).toHaveLength(1);
  const [alert] = await alertsOf(`${name}-fires`, name);
  expect(alert).toMatchObject({ rule: name, armed: false, deliveries: [] });
  expect(alert?.text).toMatch(words);
  expect(await alertsOf(`${name}-silent`, name)).toEqual([]);
}

test.each(kinds)(
  "%s fires on the run that shows it, once, and not on the other",
  async (kind, options, fires, silent, words) => {
    const name = `k-${kind}`;
    await expectOneAlert(name, { kind, ...options }, fires(`${name}-fires`), silent(`${name}-silent`), words);
  },
);

test("slow fires on a run whose steps take longer than those of the run that it names", async () => {
  await send(runOf("usual", losses(100)));
  const slow = many(100, (at) => metric("loss", 1, at, at * 2));
  const rule = { kind: "slow", than: "usual" };
  const words = /^Steps are slow: 2 s, 2 times as long as those of usual\.$/;
  await expectOneAlert("than", rule, runOf("than-fires", slow), runOf("than-silent", losses(100)), words);
  const answer = await fetch(`${walk.app.url}/api/v1/rules`);
  const { rules } = (await answer.json()) as { rules: { name: string; means: string; rule: object }[] };
  const told = rules.find(({ name }) => name === "than");
  expect(told?.means).toBe("the median step of the last 50 is 1.5 times that of the run usual");
  expect(told?.rule).toMatchObject({ than: "usual" });
});

test("what rules saw of a run goes when the run is deleted, and that of others stays", async () => {
  await define("gone", { kind: "finished" });
  const end = { type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } };
  for (const id of ["gone-a", "gone-b"]) await send(runOf(id, [end]));
  for (const id of ["gone-a", "gone-b"])
    await expect.poll(() => alertsOf(id, "gone"), { timeout: 30_000 }).toHaveLength(1);
  expect((await fetch(`${walk.app.url}/api/v1/runs/gone-a`, { method: "DELETE" })).status).toBe(200);
  const runs = async () => {
    const { body } = await walk.get("/api/v1/alerts?rule=gone");
    return (body as { alerts: Alert[] }).alerts.map(({ run }) => run);
  };
  await expect.poll(runs, { timeout: 30_000 }).toEqual(["gone-b"]);
});

test("a run that ended is not lost sight of by looks that overlap", async () => {
  await define("overlap", { kind: "finished" });
  const ids = Array.from({ length: 6 }, (_, at) => `overlap-${at}`);
  const end = { type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } };
  for (const id of ids) {
    await send(runOf(id, [end]));
    // Each wants a fresh look while the one before it is under way.
    await Promise.all(Array.from({ length: 60 }, (_, at) => sleep(at * 2).then(() => walk.app.watch?.look())));
  }
  for (const id of ids) await expect.poll(() => alertsOf(id, "overlap"), { timeout: 30_000 }).toHaveLength(1);
});

test("a condition that has to hold for a while is looked at until then, also when its run has ended", async () => {
  await define("holds", { kind: "threshold", when: "metrics.loss.last>5", for: "4s" });
  const end = { type: "run_end", at: 5, payload: { status: "completed", exit_code: 0 } };
  await send(runOf("holds-on", [metric("loss", 9, 1, 1), end]));
  await expect.poll(() => alertsOf("holds-on", "holds"), { timeout: 20_000, interval: 500 }).toHaveLength(1);
});
