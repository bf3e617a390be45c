// What people change at one collector of a shared store and then at another: joins, rules, edits and keys.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import type { TestApp } from "../support/app.ts";
import { eventually, natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;

const octets = { "content-type": "application/octet-stream" };

async function send(app: TestApp, run: string, seq: number): Promise<void> {
  const point = { run_id: run, key: `of ${run} ${seq}`, value: seq, step: seq };
  const frame = encodeFrame("metric", { seq, ts: 1794710321102255 + seq, wid: "w" }, point);
  expect((await app.post("/v1/xtrack?wait=1", frame, octets)).status).toBe(202);
}

async function call(app: TestApp, method: string, path: string, body?: object): Promise<number> {
  const content = body === undefined ? {} : { headers: { "content-type": "application/json" } };
  const answer = await fetch(`${app.app.url}/api/v1${path}`, {
    method,
    ...content,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** How many points each of these names leads to, by their keys, and the run it means. */
async function shown(app: TestApp, ...names: readonly string[]): Promise<string[]> {
  return Promise.all(
    names.map(async (name) => {
      const { status, body } = await app.get(`/api/v1/runs/${name}`);
      if (status !== 200) return `${name}: ${status}`;
      const { id, counts } = body as { id: string; counts: Record<string, number> };
      return `${name}: ${counts["metrics"]} in ${id}`;
    }),
  );
}

async function bothShow(wanted: readonly string[], ...names: readonly string[]): Promise<void> {
  for (const app of [pair.a, pair.b]) {
    let found: string[] = [];
    const isShown = async () => {
      found = await shown(app, ...names);
      return JSON.stringify(found) === JSON.stringify(wanted);
    };
    await eventually(isShown, "", 6000).catch(() => expect(found).toEqual(wanted));
  }
}

describe.skipIf(natsPath === undefined)("people at two collectors", () => {
  beforeAll(async () => {
    pair = await openPair({ watching: "on" });
  });
  afterAll(() => pair?.remove());

  test("a deleted run lets go of the runs that were joined to it", async () => {
    const { a, b } = pair;
    for (const run of ["whole", "part"]) await send(a, run, 1);
    expect(await call(a, "POST", "/runs/whole/join", { ids: ["part"] })).toBe(200);
    await bothShow(["whole: 2 in whole"], "whole");
    expect(await call(b, "DELETE", "/runs/whole")).toBe(200);
    await bothShow(["whole: 404", "part: 404"], "whole", "part");
    await send(b, "part", 2);
    await bothShow(["whole: 404", "part: 1 in part"], "whole", "part");
  });

  test("what is changed at one whose clock is behind counts after what the other had changed before", async () => {
    const { a, b } = pair;
    await send(a, "named", 1);
    const [hourNs, edit] = [3600n * 1_000_000_000n, { notes: null, tags: "", archived: 0, author: "a" } as const];
    const row = { workspace: "default", run_id: "named", name: "by a", ...edit, version: nowNs() + hourNs };
    await a.app.collector.change([{ table: "run_edits", row }], "default", "a");
    await a.app.collector.drained();
    expect(await call(b, "PATCH", "/runs/named", { name: "by b" })).toBe(200);
    for (const { get } of [a, b]) {
      const name = async () => ((await get("/api/v1/runs/named")).body as { name: string }).name;
      await expect.poll(name, { timeout: 10_000 }).toBe("by b");
    }
  });

  test("a run that was parted at the other a moment ago is not deleted with the one it was joined to", async () => {
    const { a, b } = pair;
    for (const [at, app] of [a, b].entries()) for (const run of ["left", "kept"]) await send(app, run, at);
    expect(await call(b, "POST", "/runs/left/join", { ids: ["kept"] })).toBe(200);
    await bothShow(["left: 4 in left"], "left");
    await eventually(() => a.app.collector.applier.state.joins.runOf("default", "kept") === "left");
    await pair.nats.kill();
    expect(await call(b, "POST", "/runs/left/part")).toBe(200);
    expect(await call(a, "DELETE", "/runs/left")).toBe(200);
    await pair.nats.start();
    await bothShow(["left: 404", "kept: 2 in kept"], "left", "kept");
  });

  test("runs that are joined to each other at the same moment become one", async () => {
    const { a, b } = pair;
    for (let at = 0; at < 2; at++) {
      const [x, y] = [`x${at}`, `y${at}`] as const;
      for (const run of [x, y]) await send(a, run, 1);
      await Promise.all([
        call(a, "POST", `/runs/${x}/join`, { ids: [y] }),
        call(b, "POST", `/runs/${y}/join`, { ids: [x] }),
      ]);
      const [found] = await shown(a, x);
      const id = found?.split(" ").at(-1);
      await bothShow([`${x}: 2 in ${id}`, `${y}: 2 in ${id}`], x, y);
    }
  });

  test("a run that is joined to one that is being joined itself goes along", async () => {
    const { a, b } = pair;
    for (let at = 0; at < 2; at++) {
      const [x, y, z] = [`cx${at}`, `cy${at}`, `cz${at}`] as const;
      for (const run of [x, y, z]) await send(a, run, 1);
      await Promise.all([
        call(a, "POST", `/runs/${z}/join`, { ids: [y] }),
        call(b, "POST", `/runs/${y}/join`, { ids: [x] }),
      ]);
      await bothShow(
        [x, y, z].map((run) => `${run}: 3 in ${z}`),
        x,
        y,
        z,
      );
    }
  });

  test("a rule made at one stays when the other makes one right after it", async () => {
    const { a, b } = pair;
    for (const [at, app] of [a, b, a, b].entries())
      expect(await call(app, "PUT", `/rules/made-${at}`, { kind: "nonfinite", metric: "loss" })).toBe(200);
    expect(await call(b, "POST", "/rules/made-0/arm", { armed: true })).toBe(200);
    expect(await call(a, "DELETE", "/rules/made-1")).toBe(200);
    for (const app of [a, b]) {
      const { rules } = (await app.get("/api/v1/rules")).body as { rules: { name: string; armed: boolean }[] };
      const made = rules.filter(({ name }) => name.startsWith("made-")).map(({ name, armed }) => `${name} ${armed}`);
      expect(made.sort()).toEqual(["made-0 true", "made-2 false", "made-3 false"]);
    }
  });
});
