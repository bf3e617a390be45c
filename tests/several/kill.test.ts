// One collector is killed by SIGKILL while the other goes on, and comes back with what it had accepted.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Run, startRun } from "#emit/xtrack.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { CollectorProcess } from "../support/collector-process.ts";
import { suiteFolder } from "../support/folder.ts";
import {
  eventually,
  type NatsServer,
  natsPath,
  type SharedStore,
  startNats,
  startSharedStore,
} from "../support/several.ts";

let nats: NatsServer;
let shared: SharedStore;
const folder = suiteFolder();
let a: CollectorProcess;
let b: TestApp;
const runs: Run[] = [];

const others = async () => /tributary_collectors (\d+)/.exec(await (await fetch(`${b.app.url}/metrics`)).text())?.[1];
const post = async (url: string, body: string) => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/runs/killed/traces`, { method: "POST", body, headers });
  expect(answer.status).toBe(202);
};
const get = async <T>(url: string, path: string): Promise<T> =>
  (await fetch(`${url}/api/v1${path}`)).json() as Promise<T>;
const spansOf = async (url: string) =>
  (await get<{ counts?: { spans?: number } }>(url, "/runs/killed")).counts?.spans ?? 0;

describe.skipIf(natsPath === undefined)("a collector that is killed", () => {
  beforeAll(async () => {
    [nats, shared] = await Promise.all([startNats(), startSharedStore()]);
    const env = { TRIBUTARY_STORE_URL: shared.url, TRIBUTARY_STORE_GUEST_USER: "guest", TRIBUTARY_BUS_URL: nats.url };
    a = await CollectorProcess.make(folder, env);
    b = await createTestApp({ storeUrl: shared.url, storeGuestUser: "guest", busUrl: nats.url });
    await a.start();
    await eventually(async () => (await others()) === "2", "they do not know each other");
  });
  afterAll(async () => {
    await Promise.all(runs.map((run) => run.end({ timeoutMs: 1000 })));
    await a?.kill();
    await b?.remove();
    await nats?.kill();
    await shared?.close();
  });

  test("loses nothing it accepted, and what was sent again to the other is there once", async () => {
    const root = { id: "root", parent: null, name: "cirron.session", at: 0 };
    const batches = Array.from({ length: 40 }, (_, i) =>
      toBatchText(`b${i}`, [{ id: `s${i}`, parent: "root", name: "step", at: i + 1 }, ...(i === 0 ? [root] : [])]),
    );
    for (const body of batches.slice(0, 10)) await post(a.url, body);
    await Promise.all(batches.slice(10, 30).map((body) => post(a.url, body)));
    await a.kill();
    // Clients that never saw their answers send again, to whoever is there.
    for (const body of batches.slice(20)) await post(b.app.url, body);
    await b.app.collector.drained();
    await eventually(async () => (await others()) === "1", "its death was not noticed");
    await a.start();
    for (const url of [a.url, b.app.url])
      await eventually(async () => (await spansOf(url)) === 41, `${url} has not 41 spans`);
    const list = await get<{ runs: { id: string }[] }>(b.app.url, "/runs");
    expect(list.runs.map(({ id }) => id)).toEqual(["killed"]);
    const sql = `SELECT count() AS n, uniqExact(span_id) AS ids FROM tributary.spans WHERE span_id != '${hex("root")}'`;
    await eventually(async () => {
      const [row] = await askStore<{ n: string; ids: string }>(b.app.collector.store, { sql });
      return row?.n === "40" && row.ids === "40";
    }, "copies stay in the store");
  });

  test("leaves its commands to the other, and does not send them again when it is back", async () => {
    const taken: string[] = [];
    const start = (port: number): Run => {
      const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
      const run = startRun({ id: "orphaned", workerId: "w0", transport, source: false, env: false, spool: false });
      run.on("checkpoint_now", () => {
        taken.push("checkpoint_now");
      });
      runs.push(run);
      return run;
    };
    const first = start(a.xtrackPort);
    first.metric("loss", 1, { step: 1 });
    const states = async (url: string) =>
      (await get<{ commands?: { state: string }[] }>(url, "/runs/orphaned/commands")).commands?.map(
        ({ state }) => state,
      );
    await eventually(async () => (await states(a.url)) !== undefined, "the run did not come");
    const body = JSON.stringify({ type: "checkpoint_now", worker: "w1" });
    const headers = { "content-type": "application/json" };
    await fetch(`${a.url}/api/v1/runs/orphaned/commands`, { method: "POST", body, headers });
    await eventually(async () => (await states(b.app.url))?.join() === "queued", "the other does not know the command");
    await a.kill();
    const port = Number(b.app.xtrack[0]?.split(":").at(-1));
    const transport = { kind: "tcp", host: "127.0.0.1", port } as const;
    const heir = startRun({ id: "orphaned", workerId: "w1", transport, source: false, env: false });
    runs.push(heir);
    heir.on("checkpoint_now", () => {
      taken.push("checkpoint_now");
    });
    await eventually(async () => (await states(b.app.url))?.join() === "confirmed", "the command waits");
    await a.start();
    await eventually(async () => (await states(a.url))?.join() === "confirmed", "the first has not heard of it");
    expect(taken).toEqual(["checkpoint_now"]);
  });
});
