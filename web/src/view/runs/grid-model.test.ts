import { expect, test } from "vitest";
import type { RunGroup, RunSummary } from "#api/contract/run.ts";
import { formatsOfColumns, toGridRows } from "./grid-model.ts";

function run(id: string, group: string, loss: number): RunSummary {
  return { id, group, cells: { loss: { text: String(loss), num: loss } } } as unknown as RunSummary;
}

const groups = [{ value: "a" }, { value: "b" }] as RunGroup[];
const runs = [run("1", "a", 2.066), run("2", "a", 2.067), run("3", "b", 1)];

test("puts runs under the heading of their group and hides those of a closed one", () => {
  const rows = toGridRows(runs, groups, new Set(["a"]));
  expect(rows.map((row) => (row.kind === "run" ? row.run.id : `${row.group.value}:${row.open}`))).toEqual([
    "a:false",
    "b:true",
    "3",
  ]);
});

test("without grouping every run is a row", () => {
  expect(toGridRows(runs, undefined, new Set())).toHaveLength(3);
});

test("gives each column the digits it needs, and measured ones their decimals", () => {
  expect(formatsOfColumns(runs, ["loss"]).get("loss")).toEqual({ digits: 5, decimals: null });
  const measured = runs.map((each) => ({ ...each, cells: { "metrics.loss.last": each.cells["loss"] } }) as RunSummary);
  expect(formatsOfColumns(measured, ["metrics.loss.last"]).get("metrics.loss.last")?.decimals).toBe(3);
});
