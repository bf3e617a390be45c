// A run that is followed while nothing says that it is over, and while the server is restarted.

import { expect, it, onTestFinished } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { createTestApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";
import { freePort } from "../support/free-port.ts";

const frame = (type: string, seq: number, more = {}) =>
  toFrame({ type, seq, ts: Date.now() * 1000 + seq, payload: { run_id: "followed", ...more } });

it("tail ends with a run that is lost", async () => {
  const app = await createTestApp({ runSilenceMs: "2s" });
  onTestFinished(() => app.remove());
  await app.post("/v1/xtrack?wait=1", frame("run_start", 1));
  const { code, out } = await runInTest(["tail", "followed", "--server", app.app.url]);
  expect([code, out]).toEqual([0, expect.stringMatching(/running\n.*lost/)]);
});

it("tail goes on when the server does", async () => {
  const app = await createTestApp({ httpAddress: `127.0.0.1:${await freePort()}` });
  onTestFinished(() => app.remove());
  await app.post("/v1/xtrack?wait=1", frame("run_start", 1));
  const tail = runInTest(["tail", "followed", "--server", app.app.url]);
  const isFollowed = () => app.app.collector.hub.subscriberCount;
  await expect.poll(isFollowed, { timeout: 20_000 }).toBe(1);
  await app.reopen();
  await expect.poll(isFollowed, { timeout: 20_000 }).toBe(1);
  await app.post("/v1/xtrack?wait=1", Buffer.concat([frame("metric", 2, { key: "loss", value: 0.25, step: 7 })]));
  await app.post("/v1/xtrack?wait=1", frame("run_end", 3, { status: "failed" }));
  const { code, out, err } = await tail;
  expect([code, err]).toEqual([1, "The server is away; waiting for it.\n"]);
  expect(out).toMatch(/step 7 {2}loss 0\.25\n.*failed/);
});
