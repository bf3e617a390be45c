// A rule fires once, though every collector sees what it looks for, and also when the one that saw it is gone.

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Alert } from "#api/contract/rule.ts";
import { startRun } from "#emit/xtrack.ts";
import { chooseOwner } from "#server/peers/sights.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import type { TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { type DooredStore, eventually, natsPath, openPair, type Pair, startDooredStore } from "../support/several.ts";

let pair: Pair;
let store: DooredStore;
/** The first is about all of the late points, each of the others about one. */
const rulesOfLate = Object.fromEntries(
  ["late_*", "late_0", "late_1", "late_2", "late_3"].map((metric) => [metric.replace("_*", ""), { metric, count: 1 }]),
);
const posted: string[] = [];
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    posted.push(body);
    response.end();
  });
});

async function call(app: TestApp, method: string, path: string, body: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  return (await fetch(app.app.url + path, { method, headers, body: JSON.stringify(body) })).status;
}

/** Rules that tell, armed, and known to both: the other one reads them from the store. */
async function armRules(rules: Readonly<Record<string, object>>): Promise<void> {
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  for (const [name, rule] of Object.entries(rules)) {
    expect(await call(pair.a, "PUT", `/api/v1/rules/${name}`, { kind: "nonfinite", webhook, ...rule })).toBe(200);
    expect(await call(pair.a, "POST", `/api/v1/rules/${name}/arm`, { armed: true })).toBe(200);
  }
  const areArmed = async () => {
    const found = ((await pair.b.get("/api/v1/rules")).body as { rules: { name: string; armed: boolean }[] }).rules;
    return Object.keys(rules).every((name) => found.some((one) => one.name === name && one.armed));
  };
  await eventually(areArmed, "the other collector does not know the rules");
}

function sendFrames(app: TestApp, frames: readonly Uint8Array[]): void {
  const socket = connect(Number(app.app.xtrack[0]?.split(":").at(-1)), "127.0.0.1");
  socket.end(Buffer.concat(frames));
}

function toldOf(rule: string): string[] {
  const messages = posted.map((body) => JSON.parse(body) as { status: string; commonLabels: Record<string, string> });
  const ofRule = messages.filter(({ commonLabels }) => commonLabels["alertname"] === rule);
  return ofRule.map(({ status, commonLabels }) => `${commonLabels["run"]} ${status}`).sort();
}

async function alertsAt(app: TestApp, run: string): Promise<Alert[]> {
  const { body } = await app.get(`/api/v1/runs/${run}/alerts?rule=tell`);
  return (body as { alerts?: Alert[] }).alerts ?? [];
}

describe.skipIf(natsPath === undefined)("two collectors", () => {
  beforeAll(async () => {
    store = await startDooredStore();
    pair = await openPair({ watching: "on", watchPrivate: "true", runSilenceMs: "10s" }, store);
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    await armRules({ tell: {}, ...rulesOfLate });
  });
  afterAll(async () => {
    receiver.close();
    await pair?.remove();
  });

  test("see the ranks of a run turn to NaN, each its own, and tell it once", async () => {
    const { a, b } = pair;
    const ids = ["r0", "r1", "r2", "r3"];
    const workers = ids.flatMap((id) =>
      [a, b].map((app, at) => {
        const port = Number(app.app.xtrack[0]?.split(":").at(-1));
        const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
        return startRun({ id, workerId: `w${at}`, transport, source: false, env: false });
      }),
    );
    for (let step = 0; step < 20; step++)
      for (const run of workers) run.metric("loss", step < 10 ? 1 : Number.NaN, { step });
    await Promise.all(workers.map((run) => run.end({ timeoutMs: 15_000 })));
    for (const id of ids) await eventually(async () => (await alertsAt(b, id)).length > 0, `${id} was not told`);
    await eventually(() => posted.length >= ids.length, "the messages did not come");
    for (const app of [a, b, a, b]) await app.app.watch?.look();
    for (const id of ids) expect(await alertsAt(a, id)).toHaveLength(1);
    expect(toldOf("tell")).toEqual(ids.map((id) => `${id} firing`));
  });

  test("tell what goes on once, whichever of them sees it and whatever of it the store has not taken", async () => {
    const { a, b } = pair;
    const names = [a, b].map(({ app }) => app.collector.id);
    const ids = Array.from({ length: 100 }, (_, at) => `over${at}`);
    const decidedByA = ids.filter((id) => chooseOwner(names, `default\0${id}`) === names[0]);
    const [own, foreign] = decidedByA as [string, string];
    const m = { ts: Date.now() * 1000, wid: "w" };
    const heardBy = [[own, a] as const, [foreign, b] as const];
    for (const [id, app] of heardBy) {
      sendFrames(app, [
        encodeFrame("run_start", { ...m, seq: 1 }, { run_id: id }),
        encodeFrame("run_end", { ...m, seq: 2 }, { run_id: id, status: "completed" }),
      ]);
      await eventually(async () => (await a.get(`/api/v1/runs/${id}`)).status === 200, "the run is not there");
    }
    const isRefused = (statement: string) => /^INSERT INTO \S*(metrics|firings)/.test(statement);
    store.door.judge((statement) => (isRefused(statement) ? 202 : null));
    // Rules would forget runs that are over after each look, and each point would bring them back.
    for (let at = 0; at < 4; at++) {
      const metric = { key: `late_${at}`, value: Number.NaN, step: at };
      for (const [run_id, app] of heardBy)
        sendFrames(app, [encodeFrame("metric", { ...m, seq: at + 3 }, { ...metric, run_id })]);
      await eventually(() => toldOf(`late_${at}`).length > 1, `the points ${at} were not told`);
    }
    expect(store.door.seen.some(isRefused)).toBe(true);
    store.door.judge(() => null);
    const told = [`${own} firing`, `${foreign} firing`].sort();
    for (const rule of Object.keys(rulesOfLate)) expect([rule, ...toldOf(rule)]).toEqual([rule, ...told]);
  });

  test("see runs lost that came to one of them before it went away", async () => {
    const { a, b } = pair;
    const ids = ["left0", "left1", "left2", "left3"];
    for (const [at, id] of ids.entries()) {
      const batch = toBatchText(id, [{ id, parent: null, name: "step", at: 0 }], { pid: at + 1, thread: at + 1 });
      const { status } = await a.post(`/v1/runs/${id}/traces?wait=1`, batch);
      expect(status).toBe(202);
    }
    await a.app.close();
    const isTold = async (id: string) => {
      const { body } = await b.get(`/api/v1/runs/${id}/alerts?rule=lost`);
      return (body as { alerts: Alert[] }).alerts.length === 1;
    };
    for (const id of ids) await eventually(() => isTold(id), `nobody saw that ${id} is lost`, 90_000);
  }, 180_000);
});
