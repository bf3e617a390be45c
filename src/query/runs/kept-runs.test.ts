import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Kept } from "#query/kept.ts";
import { listPlainly } from "../../../tests/support/plain-runs.ts";
import { ModelStore } from "../../../tests/support/run-model.ts";
import { type FieldRef, parseField } from "./field.ts";
import { parseFilter } from "./filter.ts";
import type { HeadContext } from "./head.ts";
import { KeptRuns } from "./kept-runs.ts";
import { listRuns, type RunsQuestion } from "./list.ts";

const silenceNs = 1000n;

/** A store, the tables kept of it, and a clock. */
class World {
  readonly store = new ModelStore();
  readonly limits: { readonly bytesMax?: number; readonly groupsMax?: number };
  readonly connected = new Set<string>();
  tables: KeptRuns;
  nowNs = 1_000_000n;

  constructor({ isWatched = true, ...limits }: World["limits"] & { readonly isWatched?: boolean } = {}) {
    this.limits = limits;
    this.store.isWatched = isWatched;
    this.tables = this.open();
  }

  open(): KeptRuns {
    return new KeptRuns(this.store, new Kept(this.limits.bytesMax), this.limits.groupsMax);
  }

  get context(): HeadContext {
    const { nowNs, connected } = this;
    return { nowNs, silenceNs, isConnected: (group) => connected.has(group) };
  }

  change(group: string, run: string, work: Parameters<ModelStore["change"]>[3]): void {
    this.store.change(group, run, ++this.nowNs, work);
  }

  param(group: string, run: string, name: string, value: string): void {
    const num = value.startsWith('"') ? null : Number(value);
    const cell = { groupKey: group, name, value, num, tsNs: this.nowNs };
    this.change(group, run, ({ params }) => params.push(cell));
  }

  metric(group: string, run: string, value: number | null, more: Partial<{ phase: string; step: bigint | null }> = {}) {
    const text = value === null ? "12345678901234567890" : "";
    const point = { key: "loss", phase: "", worker: "w", value, text, step: null, tsNs: this.nowNs, ...more };
    this.change(group, run, ({ points }) => points.push(point));
  }
}

function field(text: string): FieldRef {
  const parsed = parseField(text);
  if ("mistake" in parsed) throw new Error(parsed.mistake);
  return parsed;
}

function question(more: Partial<RunsQuestion> & { readonly where?: string } = {}): RunsQuestion {
  const parsed = parseFilter(more.where ?? "");
  if (!parsed.ok) throw new Error(parsed.mistake.message);
  return {
    workspace: "ws",
    filter: parsed.filter,
    sort: [],
    columns: [],
    group: null,
    archived: "show",
    limit: 100,
    after: null,
    ...more,
  };
}

async function ids(world: World, asked: RunsQuestion = question()): Promise<string[]> {
  return (await listRuns({ runs: world.tables }, asked, world.context)).rows.map(({ row }) => row.runId);
}

/** Every page, one after the other, against the whole list worked out plainly. */
async function expectPlain(world: World, asked: RunsQuestion): Promise<void> {
  const plain = listPlainly(world.store, asked, world.context);
  const rows = [];
  for (let after: RunsQuestion["after"] = null; ; ) {
    const page = await listRuns({ runs: world.tables }, { ...asked, after }, world.context);
    expect(page.total).toBe(plain.length);
    expect(page.grouped?.groups.reduce((sum, group) => sum + group.runs, 0) ?? plain.length).toBe(plain.length);
    rows.push(...page.rows);
    after = page.next;
    if (after === null) break;
    expect(page.rows).toHaveLength(asked.limit);
  }
  const told = (runs: readonly { row: unknown; cells: readonly { values: unknown; nonfinite: number }[] }[]) =>
    runs.map(({ row, cells }) => ({
      row,
      cells: cells.map(({ values, nonfinite }) => ({
        values: (values as { text: string; num: number | null }[]).map(({ text, num }) => ({ text, num })),
        nonfinite,
      })),
    }));
  expect(told(rows)).toEqual(told(plain));
}

const groups = ["ws/x/a", "ws/x/b", "ws/x/c", "ws/x/d", "ws/x/e", "ws/c/f", "ws/c/g", "ws/c/h", "ws/c/i"];
const runs = ["r1", "r2", "r3", "r4", "r5", "r6", "r7"];
const fieldTexts = [
  "params.lr",
  "params.opt",
  "metrics.loss.last",
  "metrics.loss.first",
  "metrics.loss@val.min",
  "metrics.loss.max",
  "metrics.loss.count",
  "metrics.loss.nonfinite",
  "status",
  "start",
  "name",
  "tags",
  "updated",
];
const filters = [
  "",
  "status:running",
  "params.lr<0.5 OR metrics.loss.last>1",
  "NOT params.opt:adam",
  "metrics.loss.nonfinite>0",
  "duration>2ns archived:false",
  "best",
];

const anyField = fc.constantFrom(...fieldTexts).map(field);
const anyQuestion = fc.record({
  where: fc.constantFrom(...filters),
  sort: fc.array(fc.record({ field: anyField, descending: fc.boolean() }), { maxLength: 2 }),
  columns: fc.array(anyField, { maxLength: 3 }),
  group: fc.option(anyField),
  archived: fc.constantFrom("hide" as const, "show" as const, "only" as const),
  limit: fc.integer({ min: 1, max: 4 }),
});

type Step = (world: World) => void;
const place = { group: fc.constantFrom(...groups), run: fc.constantFrom(...runs) };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ ...place, name: fc.constantFrom("lr", "opt"), value: fc.constantFrom("0.1", "1.0", '"adam"', '"0.1"') })
    .map(
      ({ group, run, name, value }): Step =>
        (world) =>
          world.param(group, run, name, value),
    ),
  fc
    .record({
      ...place,
      value: fc.constantFrom(0.5, 2, -0, Number.NaN, Number.POSITIVE_INFINITY, null),
      phase: fc.constantFrom("", "val"),
      step: fc.constantFrom(null, 1n, 2n, 3n),
    })
    .map(
      ({ group, run, value, ...more }): Step =>
        (world) =>
          world.metric(group, run, value, more),
    ),
  fc.record(place).map(
    ({ group, run }): Step =>
      (world) =>
        world.change(group, run, (it) => {
          it.runId = run;
        }),
  ),
  fc.record({ ...place, end: fc.constantFrom("completed", "failed", null) }).map(
    ({ group, run, end }): Step =>
      (world) =>
        world.change(group, run, (it) => {
          it.end = end;
        }),
  ),
  fc.constantFrom(...groups).map(
    (group): Step =>
      (world) =>
        world.store.groups.has(group) &&
        world.change(group, "r1", (it) => {
          it.isDeleted = true;
        }),
  ),
  fc.record({ run: place.run, archived: fc.boolean(), name: fc.option(fc.constantFrom("best", "worst")) }).map(
    ({ run, archived, name }): Step =>
      ({ store, nowNs }) =>
        store.edit(run, { runId: run, name, notes: null, tags: '["best"]', archived, author: "", atNs: nowNs }),
  ),
  fc.constantFrom(...groups).map(
    (group): Step =>
      ({ connected }) => {
        if (!connected.delete(group)) connected.add(group);
      },
  ),
  fc.constantFrom(1n, 900n, 5000n).map(
    (later): Step =>
      (world) => {
        world.nowNs += later;
      },
  ),
);

/** Steps while questions are under way; then a question that must be right. */
const anyRound = fc.record({
  steps: fc.array(fc.record({ step: anyStep, meanwhile: fc.option(anyQuestion) }), {
    maxLength: 12,
  }),
  /** After how many readings the store is away for one. */
  failsAfter: fc.option(fc.integer({ max: 4, min: 0 })),
  isRestart: fc.boolean(),
  asked: anyQuestion,
});
type Round = typeof anyRound extends fc.Arbitrary<infer R> ? R : never;

async function play(world: World, { steps, failsAfter, isRestart, asked }: Round): Promise<void> {
  world.store.failsAfter = failsAfter;
  const under: Promise<"answered" | "failed">[] = [];
  for (const { step, meanwhile } of steps) {
    step(world);
    if (meanwhile !== null) {
      const asking = listRuns({ runs: world.tables }, question(meanwhile), world.context);
      under.push(
        asking.then(
          () => "answered",
          () => "failed",
        ),
      );
    }
    await new Promise(setImmediate);
  }
  const failed = (await Promise.all(under)).filter((outcome) => outcome === "failed");
  expect(failed.length).toBeLessThanOrEqual(failsAfter === null ? 0 : 1);
  world.store.failsAfter = null;
  if (isRestart) world.tables = world.open();
  await expectPlain(world, question(asked));
}

describe("the table of runs that is kept in memory", () => {
  test.each([
    ["usually", {}],
    ["when few groups are read by name", { groupsMax: 1 }],
    ["when it cannot be told what has changed", { isWatched: false }],
    ["when little may be kept", { bytesMax: 3000 }],
    ["when nothing may be kept", { bytesMax: 0 }],
  ])("answers %s as a plain reading of everything does, whatever has happened", async (_, options) => {
    const check = async (rounds: readonly Round[]) => {
      const world = new World(options);
      for (const round of rounds) await play(world, round);
    };
    await fc.assert(fc.asyncProperty(fc.array(anyRound, { minLength: 1, maxLength: 6 }), check), { numRuns: 200 });
  });

  test("shows the newest runs before all of them are read, and reads them meanwhile", async () => {
    const world = new World();
    for (const run of ["r1", "r2", "r3", "r4"]) world.param(`ws/x/${run}`, run, "lr", "0.1");
    const asked = question({ columns: [field("params.lr")], limit: 2 });
    const page = await listRuns({ runs: world.tables }, asked, world.context);
    expect(page.rows.map(({ row }) => row.runId)).toEqual(["r4", "r3"]);
    expect([page.total, world.store.groupsRead]).toEqual([4, ["ws/x/r4", "ws/x/r3", "ws/x/r2"]]);
    expect(await ids(world, { ...asked, after: page.next })).toEqual(["r2", "r1"]);
    expect(world.store.groupsRead).toBeNull();
  });

  test("reads a run again only when something of it was stored", async () => {
    const world = new World();
    for (const run of ["r1", "r2"]) world.param(`ws/x/${run}`, run, "lr", "0.1");
    const asked = question({ columns: [field("params.lr")], limit: 2000 });
    await ids(world, asked);
    const { reads } = world.store;
    await ids(world, asked);
    expect(world.store.reads).toBe(reads);
    world.param("ws/x/r1", "r1", "lr", "0.2");
    await expectPlain(world, asked);
    expect(world.store.reads).toBe(reads + 2);
  });

  test("reads again what could not be read", async () => {
    const world = new World();
    const asked = question({ columns: [field("params.lr")], limit: 2000 });
    const change = (value: string) => world.param("ws/x/r1", "r1", "lr", value);
    change("0.1");
    await ids(world, asked);
    for (const failsAfter of [0, 1]) {
      change(`0.${failsAfter + 2}`);
      world.store.failsAfter = failsAfter;
      await expect(ids(world, asked)).rejects.toThrow("away");
      await expectPlain(world, asked);
    }
  });

  test("knows without reading when silence makes a run lost", async () => {
    const world = new World();
    world.metric("ws/x/r1", "r1", 1);
    expect(await ids(world, question({ where: "status:running" }))).toEqual(["r1"]);
    const { reads } = world.store;
    world.nowNs += silenceNs;
    expect(await ids(world, question({ where: "status:lost" }))).toEqual(["r1"]);
    world.connected.add("ws/x/r1");
    expect(await ids(world, question({ where: "status:running" }))).toEqual(["r1"]);
    expect(world.store.reads).toBe(reads);
  });

  test("is not told of other workspaces", async () => {
    const world = new World();
    world.metric("ws/x/r1", "r1", 1);
    await ids(world, question({ limit: 2000 }));
    const { reads } = world.store;
    world.store.change("other/x/r9", "r9", world.nowNs, () => {});
    world.store.groups.delete("other/x/r9");
    await ids(world, question({ limit: 2000 }));
    expect(world.store.reads).toBe(reads);
  });

  test("goes on after the last run of a page, whatever came or went in between", async () => {
    const world = new World();
    const add = (run: string, lr: number) => world.param(`ws/x/${run}`, run, "lr", String(lr));
    for (let at = 0; at < 9; at++) add(`r${at}`, at);
    const asked = question({ sort: [{ field: field("params.lr"), descending: false }], limit: 3 });
    const first = await listRuns({ runs: world.tables }, asked, world.context);
    add("before", 0.5);
    add("after", 4.5);
    world.change("ws/x/r2", "r2", (group) => {
      group.isDeleted = true;
    });
    expect(await ids(world, { ...asked, limit: 100, after: first.next })).toEqual([
      "r3",
      "r4",
      "after",
      "r5",
      "r6",
      "r7",
      "r8",
    ]);
  });
});
