// Real trainings, judged in words over the API and by the command line.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Verdict } from "#api/contract/judge.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { suiteApp } from "../support/app.ts";
import { postBatch, stepSpans } from "../support/step-spans.ts";
import { makeSampleFolder, profiledRun } from "../web/sample.ts";

const root = join(import.meta.dirname, "../..");
const walk = suiteApp(async () => ({ dataDir: await makeSampleFolder() }));

beforeAll(async () => {
  const spool = join(root, "examples/data/h200/cirron-full/.cirron/spool");
  for (const name of readdirSync(spool)) await walk.post("/v1/runs/full/traces", readFileSync(join(spool, name)));
  await walk.app.collector.drained();
});

async function verdictsOf(run: string): Promise<Verdict[]> {
  const { status, body } = await walk.get(`/api/v1/runs/${encodeURIComponent(run)}/verdicts`);
  expect(status).toBe(200);
  return (body as { verdicts: Verdict[] }).verdicts;
}

async function runsOf(filter: string): Promise<{ id: string; name: string }[]> {
  const { body } = await walk.get(`/api/v1/runs?filter=${encodeURIComponent(filter)}`);
  return (body as { runs: { id: string; name: string }[] }).runs;
}

describe("the recorded trainings", () => {
  test("the run that diverged is told with its step and its learning rate", async () => {
    const [run] = await runsOf('name = "gpt-diverges-nan"');
    const [found] = await verdictsOf(run?.id ?? "");
    expect(found).toMatchObject({ code: "nonfinite", severity: "bad", confidence: "high", metric: "loss" });
    expect(found?.text).toBe("loss (train) is not finite from step 1 on.");
    expect(found?.at?.step).toBe("1");
    expect(found?.next).toContain("1e+30");
  });

  test("the profiled run is bound by computing, and what it waits for data is known from what the loader says", async () => {
    const [found, ...rest] = await verdictsOf(profiledRun);
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ code: "compute_bound", severity: "info", confidence: "high", view: "timeline" });
    expect(found?.evidence.join()).toMatch(/data_load \d+ µs \([1-9] %\)/);
  });

  test("nothing is wrong with the healthy ones, nor with the one that failed", async () => {
    const runs = await runsOf('experiment = "h200-gpt-sweep"');
    const healthy = runs.filter(({ id, name }) => name !== "gpt-diverges-nan" && id !== profiledRun);
    expect(healthy).toHaveLength(13);
    for (const { id, name } of healthy) expect([name, await verdictsOf(id)]).toEqual([name, []]);
    expect((await verdictsOf("full")).filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  test("`show` says the same as the API", async () => {
    const [run] = await runsOf('name = "gpt-diverges-nan"');
    const shown = await runInTest(["show", run?.id ?? "", "--server", walk.app.url]);
    expect(shown.out).toContain("loss (train) is not finite from step 1 on.");
    expect(shown.out).toContain("→ Lower the learning rate");
    const json = await runInTest(["show", run?.id ?? "", "--json", "--server", walk.app.url]);
    expect(JSON.parse(json.out).verdicts).toEqual(await verdictsOf(run?.id ?? ""));
  });
});

test("a rank that is always slower is found in the spans of all ranks, waiting for it set aside", async () => {
  const ranks = [0, 1, 2].flatMap((rank) =>
    stepSpans({ rank, steps: 200, computeMs: rank === 2 ? 16 : 10, cycleMs: 17 }),
  );
  await postBatch(walk, "ranks", ranks);
  await walk.app.collector.drained();
  const found = (await verdictsOf("ranks")).find(({ code }) => code === "straggler");
  expect(found?.text).toMatch(/^Rank 2 is a straggler: 1\.6 times/);
});
