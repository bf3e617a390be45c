import { expect, test } from "vitest";
import type { SpansAnswer } from "#api/contract/span.ts";
import { boxAt, mergedText, spanText, toBoxes, visibleBoxes } from "./boxes.ts";

function answer(): SpansAnswer {
  // lane 0: one epoch over four steps; lane 1: one step.
  return {
    base_ns: "1000000000000000500",
    window: { from: 0, to: 100 },
    names: ["epoch", "step"],
    spans: {
      lane: [0, 0, 0, 0, 0, 1],
      depth: [0, 1, 1, 1, 1, 0],
      name: [0, 1, 1, 1, 1, 1],
      start: [0, 0, 20, 40, 60, 10],
      end: [100, 15, 35, 55, 75, 90],
      gpu_ns: [],
      merged: [1, 1, 1, 1, 1, 1],
      id: ["e", "a", "b", "c", "d", "z"],
      index: [],
      flags: [],
    },
    marks: { lane: [0], name: [1], at: [5], merged: [1] },
  } as unknown as SpansAnswer;
}

const boxes = toBoxes(answer(), "1000000000000000000");

test("puts spans and marks on the run's clock and groups them by lane and depth", () => {
  expect([...boxes.start.slice(0, 3)]).toEqual([500, 500, 520]);
  expect(boxes.marksAt[0]).toBe(505);
  expect(boxes.rows).toEqual([
    { lane: 0, depth: 0, from: 0, to: 1 },
    { lane: 0, depth: 1, from: 1, to: 5 },
    { lane: 1, depth: 0, from: 5, to: 6 },
  ]);
});

test("finds the boxes of a row that touch a window", () => {
  expect(visibleBoxes(boxes, boxes.rows[1]!, 530, 550, 1)).toEqual({ from: 2, to: 4 });
});

test("hits the box under the pointer, or one within the slack", () => {
  expect(boxAt(boxes, boxes.rows[1]!, 525, 1)).toBe(2);
  expect(boxAt(boxes, boxes.rows[1]!, 537, 1)).toBe(-1);
  expect(boxAt(boxes, boxes.rows[1]!, 537, 3)).toBe(2);
});

test("a span that does not fit into its box keeps what tells it apart", () => {
  expect(spanText("step", "283", 8)).toBe("step 283");
  expect(spanText("step", "283", 6)).toBe("283");
  expect(spanText("blocks.11.forward", null, 8)).toBe("forward");
  expect(["forward", "backward"].map((name) => spanText(name, null, 5))).toEqual(["forw…", "back…"]);
  expect(spanText("step", "1234567", 4)).toBe("123…");
});

test("a merged box is called by its name only when it holds no other", () => {
  expect(mergedText("step", 1200, 1)).toBe("1200 × step");
  expect(mergedText("all_reduce", 153_840, 8)).toBe("153\u202f840 spans, 8 names");
});
