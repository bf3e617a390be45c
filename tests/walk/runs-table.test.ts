// The table of runs is kept in memory and read again only where something changed. Whatever happens to a real server, its
// answers are those of a table that was read from the store a moment ago.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunsAnswer } from "#api/contract/run.ts";
import { readField, readFilter, toSummary } from "#api/routes/runs.ts";
import { nowNs } from "#base/clock.ts";
import { Kept } from "#query/kept.ts";
import { KeptRuns, runSource } from "#query/runs/kept-runs.ts";
import { listRuns } from "#query/runs/list.ts";
import { suiteApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";
import { sized } from "../support/sized.ts";

const spool = join(import.meta.dirname, "../fixtures/cirron/torch_full/.cirron/spool");
const batches = readdirSync(spool).map((name) => readFileSync(join(spool, name)));

const walk = suiteApp();

async function ask(method: string, path: string, body?: unknown): Promise<number> {
  const headers = { "content-type": "application/json" };
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  const answer = await fetch(walk.app.url + path, init);
  await answer.arrayBuffer();
  return answer.status;
}

let seq = 1;
async function send(type: string, payload: Readonly<Record<string, unknown>>): Promise<void> {
  const frame = toFrame({ type, seq: ++seq, ts: 1_790_000_000_000 + seq, payload });
  const { status } = await walk.post("/v1/xtrack?wait=1", frame, { "content-type": "application/octet-stream" });
  expect(status).toBe(202);
}

const run = fc.constantFrom("one", "two", "three");
type Step = () => Promise<unknown>;
const anyArrival: fc.Arbitrary<Step> = fc.oneof(
  run.map(
    (id): Step =>
      () =>
        send("run_start", { run_id: { id, exp_id: "exp" }, name: `run ${id} ${seq}`, tags: ["a"] }),
  ),
  fc.record({ run_id: run, value: fc.constantFrom(0.25, 3, "NaN"), step: fc.integer({ min: 0, max: 5 }) }).map(
    (point): Step =>
      () =>
        send("metric", { ...point, key: "loss" }),
  ),
  fc.record({ run_id: run, value: fc.constantFrom(0.1, "adam", true) }).map(
    (param): Step =>
      () =>
        send("param", { ...param, key: "lr" }),
  ),
  fc.record({ run_id: run, status: fc.constantFrom("completed", "failed") }).map(
    (end): Step =>
      () =>
        send("run_end", end),
  ),
  fc.record({ batch: fc.constantFrom(...batches), path: fc.constantFrom("/v1/traces", "/v1/runs/two/traces") }).map(
    ({ batch, path }): Step =>
      () =>
        walk.post(`${path}?wait=1`, batch),
  ),
  fc.record({ id: run, name: fc.option(fc.constantFrom("best", "worst")), archived: fc.boolean() }).map(
    ({ id, ...edit }): Step =>
      () =>
        ask("PATCH", `/api/v1/runs/${id}`, edit),
  ),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: anyArrival },
  {
    weight: 1,
    arbitrary: run.map(
      (id): Step =>
        () =>
          ask("DELETE", `/api/v1/runs/${id}`),
    ),
  },
  { weight: 1, arbitrary: fc.constant((): Promise<unknown> => walk.reopen()) },
);

const questions = [
  { sort: [], columns: ["metrics.loss.last", "metrics.loss.min", "params.lr", "tags"], filter: "" },
  { sort: ["-metrics.loss.last"], columns: ["metrics.loss.nonfinite"], filter: "NOT params.lr:adam" },
  {
    sort: ["name"],
    columns: ["metrics.loss.count", "gaps", "workers"],
    filter: "status:failed OR best OR protocol:cirron",
  },
];

/** Returns how many runs there are. */
async function expectFresh(): Promise<number> {
  let runs = 0;
  const tables = new KeptRuns(runSource(walk.app.collector.store), new Kept(0));
  const context = { nowNs: nowNs(), silenceNs: 300_000_000_000n, isConnected: () => false };
  for (const { sort, columns, filter } of questions) {
    const query = new URLSearchParams({ filter, archived: "show" });
    for (const field of sort) query.append("sort", field);
    for (const field of columns) query.append("columns", field);
    const { body } = await walk.get(`/api/v1/runs?${query}`);
    const fresh = await listRuns(
      { runs: tables },
      {
        workspace: "default",
        filter: readFilter(filter),
        sort: sort.map((text) => ({
          field: readField(text.replace("-", ""), "sort"),
          descending: text.startsWith("-"),
        })),
        columns: columns.map((text) => readField(text, "columns")),
        group: null,
        archived: "show",
        limit: 100,
        after: null,
      },
      context,
    );
    expect((body as RunsAnswer).runs).toEqual(fresh.rows.map(toSummary));
    runs = Math.max(runs, fresh.total);
  }
  return runs;
}

test("the kept table of runs says what the store says, after anything that can happen to a run", async () => {
  const count = sized(16, 24);
  const anySteps = fc.array(anyStep, { minLength: count, maxLength: count });
  const [steps] = fc.sample(anySteps, { seed: 20261115, numRuns: 1 });
  let runsMax = 0;
  for (const step of steps ?? []) {
    await step();
    runsMax = Math.max(runsMax, await expectFresh());
  }
  expect(runsMax).toBeGreaterThan(2);
}, 240_000);
