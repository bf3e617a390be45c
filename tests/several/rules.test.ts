// A rule fires once, though every collector sees what it looks for, and also when the one that saw it is gone.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Alert } from "#api/contract/rule.ts";
import { startRun } from "#emit/xtrack.ts";
import type { TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { eventually, natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;
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

async function alertsAt(app: TestApp, run: string): Promise<Alert[]> {
  const { body } = await app.get(`/api/v1/runs/${run}/alerts?rule=tell`);
  return (body as { alerts?: Alert[] }).alerts ?? [];
}

describe.skipIf(natsPath === undefined)("two collectors", () => {
  beforeAll(async () => {
    pair = await openPair({ watching: "on", watchPrivate: "true", runSilenceMs: "10s" });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
  });
  afterAll(async () => {
    receiver.close();
    await pair?.remove();
  });

  test("see the ranks of a run turn to NaN, each its own, and tell it once", async () => {
    const { a, b } = pair;
    const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    expect(await call(a, "PUT", "/api/v1/rules/tell", { kind: "nonfinite", webhook })).toBe(200);
    expect(await call(a, "POST", "/api/v1/rules/tell/arm", { armed: true })).toBe(200);
    // The other one reads it from the store.
    const isArmed = async (app: TestApp) => {
      const { rules } = (await app.get("/api/v1/rules")).body as { rules: { name: string; armed: boolean }[] };
      return rules.find(({ name }) => name === "tell")?.armed === true;
    };
    await eventually(() => isArmed(b), "the other collector does not know the rule");
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
    const told = posted.map((body) => {
      const { status, commonLabels } = JSON.parse(body) as { status: string; commonLabels: { run: string } };
      return `${commonLabels.run} ${status}`;
    });
    expect(told.sort()).toEqual(ids.map((id) => `${id} firing`));
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
