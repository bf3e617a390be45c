import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LaunchMember } from "#store/reader/members.ts";
import { feed, readLines } from "../../../tests/semantiva/feed.ts";
import { pickBest, toGrid } from "./grid.ts";

function member(index: number | null, context: object, changes: Partial<LaunchMember> = {}): LaunchMember {
  return {
    run_id: `run-${index}`,
    run_index: index,
    context: JSON.stringify(context),
    has_end: true,
    outcome: "ok",
    failed_nodes: 0,
    duration_ms: 1,
    ...changes,
  };
}

const recorded = feed(readLines("rs_combinatorial_file/run_space_demo.trace.jsonl"))
  .lifecycle.filter(({ type }) => type === "pipeline_start")
  .map(({ run_id, run_index, context }): LaunchMember => ({ ...member(run_index, {}), run_id, run_index, context }));

describe("toGrid", () => {
  it("lays a recorded launch out over the keys that vary [ST-13]", () => {
    const grid = toGrid(recorded, 8);
    expect(grid.counts).toEqual({ planned: 8, started: 8, done: 8, failed: 0, missing: 0 });
    const varied = grid.axes.filter(({ values }) => values.length > 1);
    expect(varied.reduce((product, { values }) => product * values.length, 1)).toBeGreaterThanOrEqual(8);
    expect(grid.cells.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(grid.axes.every(({ numeric }) => numeric)).toBe(true);
    expect(grid.duplicates).toEqual([]);
  });

  it("shows where the runs are that never started", () => {
    for (const gone of [0, 3, 7]) {
      const whole = toGrid(recorded, 8);
      const grid = toGrid(
        recorded.filter(({ run_index }) => run_index !== gone),
        8,
      );
      expect(grid.counts.missing).toBe(1);
      expect(grid.cells[gone]).toEqual({ ...whole.cells[gone], run_id: null, status: "missing" });
    }
  });

  it("leaves the context of a missing run open when the others do not determine it", () => {
    expect(toGrid([member(0, { lr: 1 }), member(1, { lr: 5 })], 4).cells[2]?.context).toEqual({});
    expect(toGrid([member(0, { lr: 1 })], 2).cells[1]?.context).toEqual({});
    const grid = toGrid([member(0, { lr: 1 }), member(2, { lr: 5 })], 4);
    expect(grid.cells.filter(({ status }) => status === "missing")).toEqual([
      { index: 1, run_id: null, status: "missing", context: {} },
      { index: 3, run_id: null, status: "missing", context: {} },
    ]);
  });

  it("takes no longer for a plan of a billion runs, of which it lists the first", () => {
    const planned = 2 ** 50;
    const { counts, cells } = toGrid([member(0, { lr: 1 }), member(1, { lr: 5 })], planned);
    expect(counts.missing).toBe(planned - 2);
    expect(cells).toHaveLength(100_002);
    expect(cells.at(-1)).toMatchObject({ index: 100_001, status: "missing" });
  });

  it("counts missing runs of a plan without indexes", () => {
    expect(toGrid([member(null, {})], 3).counts.missing).toBe(2);
    expect(toGrid([member(null, {})], null).counts).toMatchObject({ planned: null, missing: 0 });
  });

  it("tells done, failed and unfinished cells apart (S5)", () => {
    const grid = toGrid(
      [
        member(0, { a: 1 }),
        member(1, { a: 2 }, { outcome: "error", failed_nodes: 1 }),
        member(2, { a: 3 }, { has_end: false, outcome: "" }),
      ],
      3,
    );
    expect(grid.cells.map(({ status }) => status)).toEqual(["succeeded", "failed", "unfinished"]);
    expect(grid.counts).toEqual({ planned: 3, started: 3, done: 1, failed: 1, missing: 0 });
  });

  it("keeps a cell for each run of a launch that was launched again, and names the duplicates (S10)", () => {
    const again = [0, 1, 2].flatMap((index) => [
      member(index, { a: index }, { run_id: `first-${index}` }),
      member(index, { a: index }, { run_id: `second-${index}` }),
    ]);
    const grid = toGrid(again, 3);
    expect(grid.cells.map(({ run_id }) => run_id)).toEqual([
      "first-0",
      "second-0",
      "first-1",
      "second-1",
      "first-2",
      "second-2",
    ]);
    expect(grid.counts).toMatchObject({ started: 6, missing: 0 });
    expect(grid.duplicates).toMatchObject([
      { context: { a: "0" }, runs: ["first-0", "second-0"] },
      { runs: ["first-1", "second-1"] },
      { runs: ["first-2", "second-2"] },
    ]);
  });

  it("orders numbers as numbers and keeps values as they were written", () => {
    const values = [10, 9, "x"].map((value, i) => member(i, { n: i === 2 ? 9.5 : value, t: `${value}` }));
    const { axes } = toGrid(values, 3);
    expect(axes).toEqual([
      { name: "n", values: ["9", "9.5", "10"], numeric: true },
      { name: "t", values: ['"10"', '"9"', '"x"'], numeric: false },
    ]);
  });

  it("cuts any context into its members", () => {
    const keys = fc.string({ unit: "binary" }).filter((key) => key !== "__proto__");
    fc.assert(
      fc.property(fc.dictionary(keys, fc.jsonValue()), (context) => {
        const [cell] = toGrid([member(0, context)], 1).cells;
        const expected = Object.entries(context).map(([key, value]) => [key, JSON.stringify(value)]);
        expect(cell?.context).toEqual(Object.fromEntries(expected));
      }),
    );
  });

  it("puts 100,000 runs on a grid", () => {
    const many = Array.from({ length: 100_000 }, (_, i) =>
      member(i, { lr: (i % 100) / 100, seed: Math.floor(i / 100), width: 256, name: "gpt" }),
    );
    const grid = toGrid(many.slice(0, 99_990), 100_000);
    expect(grid.counts).toMatchObject({ done: 99_990, missing: 10 });
    expect(grid.cells[99_999]).toMatchObject({ status: "missing", context: { lr: "0.99", seed: "999" } });
  });
});

it("picks the best run by any metric, never one that is NaN", () => {
  const { cells } = toGrid(
    [0, 1, 2, 3].map((i) => member(i, { i })),
    5,
  );
  const loss = new Map([
    ["run-0", Number.NaN],
    ["run-1", 2],
    ["run-2", 1],
    ["run-3", 1],
  ]);
  expect(pickBest(cells, (id) => loss.get(id), "min")?.run_id).toBe("run-2");
  expect(pickBest(cells, (id) => loss.get(id), "max")?.run_id).toBe("run-1");
  expect(pickBest(cells, () => undefined, "max")).toBeNull();
});
