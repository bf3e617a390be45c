import { expect, test } from "vitest";
import {
  type ColumnChoice,
  dropColumn,
  hideColumn,
  layoutColumns,
  moveColumn,
  pinColumn,
  readColumns,
  readPinned,
  readWidths,
  resizeColumn,
  writeColumns,
} from "./grid-columns.ts";

const choice: ColumnChoice = {
  columns: ["status", "x", "y", "z"],
  pinned: ["status", "y"],
  widths: new Map([["x", 120]]),
};
const drawn = (of: ColumnChoice) => layoutColumns(of).map((column) => column.field);

test("pinned columns stay beside the name, at their distance from the edge", () => {
  const columns = layoutColumns(choice);
  expect(columns.map((column) => column.field)).toEqual(["select", "name", "status", "y", "x", "z"]);
  expect(columns[3]?.sticky).toBe(36 + 172 + 124);
  expect(columns[4]).toEqual({ field: "x", width: 120, sticky: null });
});

test("on a narrow screen only the name stays, and leaves room for the rest", () => {
  const columns = layoutColumns(choice, 350);
  expect(columns.map((column) => column.field)).toEqual(["select", "name", "status", "y", "x", "z"]);
  expect(columns.map((column) => column.sticky)).toEqual([0, 36, null, null, null, null]);
  expect(columns[1]?.width).toBe(160);
  expect(layoutColumns(choice, 712)).toEqual(layoutColumns(choice));
});

test("a column dropped among pinned ones becomes pinned, dropped among the others it scrolls", () => {
  expect(drawn(dropColumn(choice, "z", "y"))).toEqual(["select", "name", "status", "z", "y", "x"]);
  expect(dropColumn(choice, "z", "y").pinned).toEqual(["status", "y", "z"]);
  expect(dropColumn(choice, "y", null)).toMatchObject({ columns: ["status", "x", "z", "y"], pinned: ["status"] });
});

test("a column dropped at the border stays what it was, and one dropped on itself does not move", () => {
  expect(dropColumn(choice, "z", "x").pinned).toEqual(["status", "y"]);
  expect(drawn(dropColumn(choice, "z", "x"))).toEqual(["select", "name", "status", "y", "z", "x"]);
  expect(dropColumn(choice, "status", "x").pinned).toEqual(["y", "status"]);
  expect(dropColumn(choice, "y", "y")).toBe(choice);
});

test("moves one place among its kind and not beyond the ends", () => {
  expect(drawn(moveColumn(choice, "x", 1))).toEqual(["select", "name", "status", "y", "z", "x"]);
  expect(drawn(moveColumn(choice, "status", 1))).toEqual(["select", "name", "y", "status", "x", "z"]);
  expect(moveColumn(choice, "x", -1)).toBe(choice);
});

test("pins, hides and resizes", () => {
  expect(pinColumn(choice, "y").pinned).toEqual(["status"]);
  expect(pinColumn(choice, "x").pinned).toEqual(["status", "y", "x"]);
  expect(hideColumn(choice, "y")).toMatchObject({ columns: ["status", "x", "z"], pinned: ["status"] });
  expect(resizeColumn(choice, "y", 1).widths.get("y")).toBe(48);
  expect(resizeColumn(choice, "x", null).widths.size).toBe(0);
});

test("what it writes into a URL reads back the same", () => {
  const url = writeColumns(choice);
  expect(url).toEqual({
    columns: ["name", "status", "x", "y", "z"],
    pinned: ["name", "status", "y"],
    widths: ["x:120"],
  });
  expect(readColumns(url.columns, [])).toEqual(choice.columns);
  expect(readPinned(url.pinned)).toEqual(choice.pinned);
  expect(readWidths(url.widths)).toEqual(choice.widths);
});

test("a link with fields only shows them in the usual layout; no pins but the name means none", () => {
  expect(readColumns(["params.lr", "start"], [])).toEqual([
    "status",
    "protocol",
    "params.lr",
    "spark",
    "start",
    "duration",
  ]);
  expect(readColumns(undefined, ["a"])).toEqual(["status", "protocol", "a", "spark", "start", "duration"]);
  expect(readPinned(undefined)).toEqual(["status"]);
  expect(readPinned(["name"])).toEqual([]);
  expect(readWidths(["a:b:90", "x:wide", "y:5"])).toEqual(
    new Map([
      ["a:b", 90],
      ["y", 48],
    ]),
  );
});

test("the columns of values are wider where they tell of groups, unless their width was chosen", () => {
  const widthOf = (field: string, isGrouped: boolean) =>
    layoutColumns(choice, undefined, isGrouped).find((column) => column.field === field)?.width;
  expect([widthOf("z", false), widthOf("z", true)]).toEqual([96, 136]);
  expect([widthOf("x", true), widthOf("status", true)]).toEqual([120, 124]);
});
