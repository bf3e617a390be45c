// A part of a table that the disk damaged.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { testApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

test("a part that the engine sets aside as broken is told, with its place and size", async () => {
  const walk = await testApp();
  const payload = { run_id: "r", key: "loss", value: 1, step: 1 };
  const frame = toFrame({ type: "metric", seq: 1, ts: 1, payload });
  await walk.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
  expect((await walk.get("/readyz")).body).toMatchObject({ degraded: [] });
  await walk.app.close();
  const table = join(walk.dataDir, "store/data/tributary/metrics");
  const part = readdirSync(table).find((name) => /^\w+_\d+_\d+_\d+$/.test(name)) as string;
  writeFileSync(join(table, part, "columns.txt"), "damaged");
  await walk.reopen();
  const told = expect.stringMatching(/1 damaged part of its tables \(metrics; \d+ bytes\).*metrics\/detached\/broken/);
  expect((await walk.get("/readyz")).body).toMatchObject({ ready: true, degraded: [told] });
  expect((await walk.get("/api/v1/health")).body).toMatchObject({ problems: [told] });
  const doctor = await runInTest(["doctor", "--data", walk.dataDir, "--server", walk.app.url]);
  expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(/✗ Tables: .*1 damaged part/)]);
});
