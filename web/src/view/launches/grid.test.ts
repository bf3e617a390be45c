import { expect, test } from "vitest";
import type { LaunchAnswer, LaunchCell } from "#api/contract/launch.ts";
import { bestCell, chooseAxes, heatOf, orderValues, toGrid } from "./grid.ts";

function cell(index: number, context: Record<string, string>, loss?: number | "NaN"): LaunchCell {
  return {
    index,
    run: `r${index}`,
    name: `run ${index}`,
    status: "completed",
    context,
    cells: loss === undefined ? {} : { "metrics.loss.last": { text: String(loss), num: loss } },
  };
}

const cells = [
  cell(0, { lr: "0.1", width: "64" }, 2),
  cell(1, { lr: "0.01", width: "64" }, 1),
  cell(2, { lr: "0.1", width: "128" }, "NaN"),
  cell(3, {}),
];

test("places runs by two parameters, numbers by size, and keeps those without a place", () => {
  const grid = toGrid(cells, "lr", "width");
  expect(grid.columns).toEqual(["0.01", "0.1"]);
  expect(grid.rows).toEqual(["64", "128"]);
  expect(grid.cellsAt("64", "0.1").map((each) => each.index)).toEqual([0]);
  expect(grid.cellsAt("128", "0.01")).toEqual([]);
  expect(grid.unplaced.map((each) => each.index)).toEqual([3]);
});

test("takes the two most varied parameters as axes", () => {
  const launch = {
    axes: [
      { name: "lr", values: ["1", "2", "3"], numeric: true },
      { name: "width", values: ["1", "2"], numeric: true },
      { name: "seed", values: ["0"], numeric: true },
    ],
  } as unknown as LaunchAnswer;
  expect(chooseAxes(launch)).toEqual({ x: "lr", y: "width" });
});

test("heat lies between the extremes of finite values", () => {
  const heat = heatOf(cells, "metrics.loss.last");
  expect(heat(cells[0]!)).toEqual({ value: 2, share: 1 });
  expect(heat(cells[1]!)?.share).toBe(0);
  expect(heat(cells[2]!)?.share).toBeNaN();
  expect(heat(cells[3]!)).toBeNull();
});

test("the best cell has the least loss and is never NaN", () => {
  expect(bestCell(cells, "metrics.loss.last")?.index).toBe(1);
  expect(bestCell([cells[2]!], "metrics.loss.last")).toBeNull();
});

test("orders words by letter when they are no numbers", () => {
  expect(orderValues(['"sgd"', '"adam"', '"sgd"'])).toEqual(['"adam"', '"sgd"']);
});
