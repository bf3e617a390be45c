// Many runs in one export: they are asked for together, and each is written as it is alone.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { exportRuns } from "#archive/export-lines.ts";
import { readFoundRuns } from "#query/runs/find-run.ts";
import { StoreOutage } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import { suiteApp } from "../support/app.ts";
import { countStore } from "../support/counted-store.ts";
import { toFrameOfText } from "../support/frames.ts";

const root = join(import.meta.dirname, "../..");
const octets = { "content-type": "application/octet-stream" };
const smallRuns = Array.from({ length: 20 }, (_, i) => `small ${i}`);

const here = suiteApp();
let ids: string[];

beforeAll(async () => {
  const frames = smallRuns.flatMap((id, i) => [
    `{"v":1,"t":"run_start","m":{"seq":1,"ts":${1000 + i}},"p":{"run_id":"${id}"}}`,
    `{"v":1,"t":"metric","m":{"seq":2,"ts":${9000 - i}},"p":{"run_id":"${id}","key":"loss","value":${i}.5,"step":1}}`,
    `{"v":1,"t":"metric","m":{"seq":3,"ts":${9001 + i}},"p":{"run_id":"${id}","key":"loss","value":0,"step":2}}`,
  ]);
  // The second events of all runs arrive after the first of all.
  for (const third of [0, 1, 2]) {
    const some = frames.filter((_, i) => i % 3 === third).map(toFrameOfText);
    await here.post("/v1/xtrack?wait=1", Buffer.concat(some), octets);
  }
  const spool = join(root, "tests/fixtures/cirron/torch_stats/.cirron/spool");
  for (const run of ["profile", "profile too"])
    for (const name of readdirSync(spool)) {
      const body = readFileSync(join(spool, name), "utf8");
      await here.post(`/v1/runs/${encodeURIComponent(run)}/traces?wait=1`, body.replaceAll('"id": "', `"id": "${run}`));
    }
  const traces = join(root, "tests/fixtures/semantiva/rs_combinatorial_file");
  for (const name of readdirSync(traces, { recursive: true, encoding: "utf8" }).filter((path) => /jsonl$/.test(path)))
    await here.post("/v1/trace-stream?wait=1", readFileSync(join(traces, name)), {
      "content-type": "application/x-ndjson",
    });
  const bad = toFrameOfText('{"v":2,"t":"x","m":{"seq":9,"ts":1},"p":{}}');
  const known = toFrameOfText('{"v":1,"t":"run_start","m":{"seq":1,"ts":1007},"p":{"run_id":"small 7"}}');
  await here.post("/v1/xtrack?wait=1", Buffer.concat([known, bad]), octets);
  await fetch(`${here.app.url}/v1/runs/small%208/artifacts/notes.txt`, {
    method: "PUT",
    body: "kept",
    headers: octets,
  });
  await here.post("/api/v1/runs/small%209/commands", JSON.stringify({ type: "stop" }));
  await fetch(`${here.app.url}/api/v1/runs/small%2010`, {
    method: "PATCH",
    body: JSON.stringify({ tags: ["a"] }),
    headers: { "content-type": "application/json" },
  });
  await here.get("/readyz?drained=1");
  const { body } = await here.get("/api/v1/runs?limit=1000");
  ids = (body as { runs: { id: string }[] }).runs.map(({ id }) => id);
});

async function linesOf(store: Store, runs: readonly string[]): Promise<string[]> {
  const { blobs } = here.app.collector;
  const sources = { store, blobs } as Parameters<typeof exportRuns>[0];
  const found = await readFoundRuns(sources, "default", runs);
  const chunks: Uint8Array[] = [];
  const asked = { workspace: "default", runs: found, isEverything: false };
  for await (const chunk of exportRuns(sources, asked)) chunks.push(chunk);
  return Buffer.concat(chunks).toString().trimEnd().split("\n");
}

const isOf = (run: string) => (line: string) => line.includes(`"${run}"`);

test("each run has the lines, in their order, that it has alone", async () => {
  expect(ids.length).toBeGreaterThan(smallRuns.length + 2);
  const { store } = here.app.collector;
  const together = await linesOf(store, ids);
  // Runs of one launch share its lines.
  expect(new Set(together).size).toBe(together.length);
  const written = new Set(together);
  for (const run of [...smallRuns.slice(6, 12), "profile", ids.find((id) => !/^(small|profile)/.test(id)) as string]) {
    const alone = await linesOf(store, [run]);
    expect(alone.filter((line) => !written.has(line))).toEqual([]);
    expect(together.filter(isOf(run))).toEqual(alone.filter(isOf(run)));
  }
  const kinds = new Set(together.map((line) => (JSON.parse(line) as { kind: string }).kind));
  expect([...kinds].sort()).toEqual(["cirron", "command", "fault", "file", "run", "semantiva", "xtrack"]);
});

test("twenty small runs cost no more questions than four", async () => {
  const questionsFor = async (runs: readonly string[]) => {
    const { store, questions } = countStore(here.app.collector.store);
    await linesOf(store, runs);
    return questions.length;
  };
  const plain = smallRuns.filter((_, i) => i < 7 || i > 10);
  expect(await questionsFor(plain)).toBe(await questionsFor(plain.slice(0, 4)));
});

test("runs that are too much for the engine together are read one by one", async () => {
  const { store } = here.app.collector;
  let refused = 0;
  const small: Store = Object.assign(Object.create(store) as Store, {
    stream(...[query, options]: Parameters<Store["stream"]>) {
      if (!query.sql.includes("transform(r_group")) return store.stream(query, options);
      refused++;
      throw new StoreOutage("overloaded", "There is no memory for this.");
    },
  });
  const some = ids.slice(0, 6);
  expect(await linesOf(small, some)).toEqual(await linesOf(store, some));
  expect(refused).toBe(1);
});
