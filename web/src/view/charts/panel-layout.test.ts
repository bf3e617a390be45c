import { expect, test } from "vitest";
import { columnsFor, formatRanges, isRange, moveInList, parseRanges, withRange } from "./panel-layout.ts";

test("a panel more goes into a row where that leaves fewer holes, as long as it is not much narrower", () => {
  // Four panels and one on a usual screen: 4 + 1, rather than 3 and 1 and 1.
  expect(columnsFor(1352, 330, 12, [4, 1, 3])).toBe(4);
  expect(columnsFor(1352, 330, 12, [3, 3])).toBe(3);
  // Five would be narrower than can be read.
  expect(columnsFor(1352, 330, 12, [5])).toBe(3);
  expect(columnsFor(702, 330, 12, [4, 1])).toBe(2);
  expect(columnsFor(318, 330, 12, [4, 1])).toBe(1);
  expect(columnsFor(1352, 330, 12, [])).toBe(3);
});

test("groups with few panels share a row", () => {
  expect(columnsFor(1352, 330, 12, [1, 1, 1])).toBe(3);
  expect(columnsFor(1352, 330, 12, [2, 2])).toBe(4);
});

test("ranges come back from an address as they were written, colons in names included", () => {
  const ranges = new Map([
    ["loss@train", { min: 0.5, max: 2 }],
    ["a:b", { min: null, max: 1e-3 }],
    ["c", { min: -1, max: null }],
  ]);
  expect(formatRanges(ranges)).toEqual(["loss@train:0.5:2", "a:b::0.001", "c:-1:"]);
  expect(parseRanges(formatRanges(ranges))).toEqual(ranges);
});

test("what is no range is left out", () => {
  expect(parseRanges(["loss", "loss::", "loss:2:1", "loss:x:y", ":1:2"])).toEqual(new Map());
  expect(isRange({ min: 1, max: 1 })).toBe(false);
});

test("a range is set and taken away again", () => {
  const set = withRange(new Map(), "loss", { min: 0, max: 1 });
  expect([...set.keys()]).toEqual(["loss"]);
  expect(withRange(set, "loss", null)).toEqual(new Map());
});

test("an entry moves by one place and never out of the list", () => {
  expect(moveInList(["a", "b", "c"], "b", -1)).toEqual(["b", "a", "c"]);
  expect(moveInList(["a", "b", "c"], "b", 1)).toEqual(["a", "c", "b"]);
  expect(moveInList(["a", "b"], "a", -1)).toEqual(["a", "b"]);
  expect(moveInList(["a", "b"], "z", 1)).toEqual(["a", "b"]);
});
