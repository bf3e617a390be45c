// Names that an address takes for steps to other paths.

import { beforeAll, expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const names = [".", "..", "~.."];
const walk = suiteApp();

beforeAll(async () => {
  for (const run_id of names) {
    const metric = { type: "metric", seq: 2, ts: 2, payload: { run_id, key: "..", value: 1, step: 1 } };
    const frames = [toFrame({ type: "run_start", seq: 1, ts: 1, payload: { run_id } }), toFrame(metric)];
    await walk.post("/v1/xtrack?wait=1", Buffer.concat(frames), { "content-type": "application/octet-stream" });
  }
});

test("the command line shows such a run", async () => {
  for (const name of names) {
    const shown = await runInTest(["show", name, "--json", "--server", walk.app.url]);
    expect([name, shown.code, shown.err]).toEqual([name, 0, ""]);
    expect(shown.out).toContain(`"id": "${name}"`);
  }
});

test("a client that resolves addresses reaches it, and its metric, with a mark in front", async () => {
  for (const name of names) {
    const { status, body } = await walk.get(`/api/v1/runs/~${name}/metrics/~..`);
    expect([name, status]).toEqual([name, 200]);
    expect(body).toMatchObject({ series: [{ run: name, key: "..", count: [1] }] });
  }
});
