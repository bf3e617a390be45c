import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { nowNs } from "#base/clock.ts";
import { type ConfiguredAges, configuredAgeMs, sweepRetention } from "#server/app/retention.ts";
import { type DeletionOrder, orderDeletion } from "#server/collector/deletion.ts";
import { suiteApp, testApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const dayNs = 86_400_000_000_000n;
const walk = suiteApp();
beforeAll(async () => {
  await start("old");
});

async function start(run: string): Promise<void> {
  const frame = toFrame({ type: "run_start", seq: 1, ts: 1_700_000_000_000_000, payload: { run_id: run } });
  await walk.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
}

async function put(body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${walk.app.url}/api/v1/retention`, {
    method: "PUT",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function ids(): Promise<string[]> {
  return ((await walk.get("/api/v1/runs")).body as { runs: { id: string }[] }).runs.map((run) => run.id);
}

const forEver: ConfiguredAges = { retentionMs: "off", retentionByWorkspaceMs: {} };

function sweep(atNs: bigint, ages = forEver): Promise<number> {
  const { collector } = walk.app;
  const order = (deletion: DeletionOrder) => orderDeletion(collector, deletion);
  return sweepRetention({ collector, ages, order }, atNs);
}

interface Audit {
  readonly entries: { by: string; action: string; target: string; at_ns: string }[];
  readonly next: string | null;
}

describe("how long runs are kept", () => {
  test("is for ever until someone says otherwise, and survives a restart", async () => {
    expect((await walk.get("/api/v1/retention")).body).toEqual({ days: null, set_by: "nobody" });
    expect(await sweep(nowNs() + 1000n * dayNs)).toBe(0);
    expect(await put({ days: 0 })).toMatchObject({ status: 400 });
    expect(await put({ days: 7 })).toEqual({ status: 200, body: { days: 7, set_by: "api" } });
    await walk.reopen();
    expect((await walk.get("/api/v1/retention")).body).toEqual({ days: 7, set_by: "api" });
  });

  test("counts from the last arrival, not from what a record says of its time", async () => {
    expect(await sweep(nowNs() + 6n * dayNs)).toBe(0);
    expect(await ids()).toEqual(["old"]);
    expect(await sweep(nowNs() + 8n * dayNs)).toBe(1);
    expect(await ids()).toEqual([]);
    await start("new");
    expect(await ids()).toEqual(["new"]);
    await put({ days: null });
    expect(await sweep(nowNs() + 1000n * dayNs)).toBe(0);
    // What was set by the API, also that runs are kept, stands over the configuration.
    expect(await sweep(nowNs() + 1000n * dayNs, { retentionMs: 1000, retentionByWorkspaceMs: { default: 1000 } })).toBe(
      0,
    );
    expect(await ids()).toEqual(["new"]);
  });

  test("is in the audit, with everything it removed, newest first and page by page", async () => {
    const all = (await walk.get("/api/v1/audit")).body as Audit;
    expect(all.entries.map(({ by, action, target }) => [by, action, target])).toEqual([
      ["local", "retention_changed", "default"],
      ["retention", "run_deleted", "old"],
      ["local", "retention_changed", "default"],
    ]);
    const first = (await walk.get("/api/v1/audit?limit=2")).body as Audit;
    const rest = (await walk.get(`/api/v1/audit?limit=2&cursor=${first.next}`)).body as Audit;
    expect([...first.entries, ...rest.entries]).toEqual(all.entries);
    expect(rest.next).toBeNull();
    expect((await walk.get("/api/v1/audit?cursor=WzFd")).status).toBe(400);
  });
});

describe("how long runs are kept where nobody set it", () => {
  const ages: ConfiguredAges = { retentionMs: 5000, retentionByWorkspaceMs: { short: 1000, archive: "off" } };

  test("is what the configuration says of the workspace, else of all", () => {
    expect(["default", "short", "archive"].map((name) => configuredAgeMs(ages, name))).toEqual([5000, 1000, null]);
    expect(configuredAgeMs(forEver, "toString")).toBeNull();
  });

  test("is carried out by a server that is started with it", async () => {
    const short = await testApp({ retentionByWorkspaceMs: "default=1ms" });
    const frame = toFrame({ type: "run_start", seq: 1, ts: 1, payload: { run_id: "brief" } });
    await short.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
    expect((await short.get("/api/v1/runs")).body).toMatchObject({ runs: [{ id: "brief" }] });
    expect((await short.get("/api/v1/retention")).body).toEqual({ days: 1 / 86_400_000, set_by: "configuration" });
    await short.reopen();
    await vi.waitFor(async () => expect((await short.get("/api/v1/runs")).body).toMatchObject({ runs: [] }), 20_000);
    const { body } = await short.get("/api/v1/audit");
    expect(body).toMatchObject({ entries: [{ by: "retention", action: "run_deleted", target: "brief" }] });
  });
});

describe("a run that goes on while old ones are removed", () => {
  const app = suiteApp();

  const frame = (run: string, seq: number) =>
    toFrame({ type: "status", seq, ts: 1_700_000_000_000_000, payload: { run_id: run, status: "running" } });
  const send = async (path: string, ...frames: Buffer[]) =>
    expect((await app.post(path, Buffer.concat(frames))).status).toBe(202);
  const lines = { "content-type": "application/x-ndjson" };
  const left = async () =>
    ((await app.get("/api/v1/runs")).body as { runs: { id: string }[] }).runs.map(({ id }) => id);
  /** Removes what came before now, asking about each order before it is carried out. */
  const remove = (atNs: bigint, look = async (_: DeletionOrder) => {}) => {
    const { collector } = app.app;
    const order = (deletion: DeletionOrder) => look(deletion).then(() => orderDeletion(collector, deletion));
    return sweepRetention(
      { collector, ages: { retentionMs: 1, retentionByWorkspaceMs: {} }, order },
      atNs + 1_000_000n,
    );
  };

  test("stays, even if its newest records wait for the store", async () => {
    await send("/v1/xtrack?wait=1", frame("a", 1));
    const atNs = nowNs();
    const removed = await app.app.collector.writer.betweenPlans(async () => {
      await send("/v1/xtrack", frame("a", 2));
      const under = remove(atNs);
      await sleep(500);
      return { under };
    });
    expect(await removed.under).toBe(0);
    expect(await left()).toEqual(["a"]);
  });

  test("stays, even if a great many are removed before it", async () => {
    const names = Array.from({ length: 250 }, (_, at) => `many${at}`);
    await send("/v1/xtrack?wait=1", ...names.map((name) => frame(name, 1)));
    let kept = "";
    const count = await remove(nowNs(), async ({ runs }) => {
      const first = new Set(runs.map(({ runId }) => runId));
      kept ||= names.find((name) => !first.has(name)) ?? "";
      // A program around the run is a group of its own.
      const start = '{"n":0,"type":"wrapper_start","ts_ns":"1700000000000000000","payload":{"name":"w"}}\n';
      expect((await app.post(`/v1/runs/${kept}/wrapper?wrapper=w1`, start, lines)).status).toBe(202);
    });
    expect(count).toBe(names.length);
    expect(await left()).toEqual([kept]);
  });
});
