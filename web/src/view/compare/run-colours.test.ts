import { expect, test } from "vitest";
import type { ParallelAxis } from "./parallel.ts";
import { coloursByAxis, groupsByAxis, keepPlaces } from "./run-colours.ts";

test("a run keeps its place while it is shown, and a new one takes what is free", () => {
  const first = keepPlaces(new Map(), ["a", "b", "c"]);
  expect([...first]).toEqual([
    ["a", 0],
    ["b", 1],
    ["c", 2],
  ]);
  const second = keepPlaces(first, ["c", "d", "b"]);
  expect(Object.fromEntries(second)).toEqual({ c: 2, b: 1, d: 0 });
});

const words: ParallelAxis = {
  name: "params.optimizer",
  label: "optimizer",
  kind: "param",
  words: ["adam", "sgd"],
  places: [0, 1, 0, null],
  texts: ["adam", "sgd", "adam", "–"],
  ticks: [],
};

test("runs of one word share a colour, and a run without the value is grey", () => {
  const colours = coloursByAxis(words, ["a", "b", "c", "d"], "light");
  expect(colours.get("a")).toBe(colours.get("c"));
  expect(colours.get("a")).not.toBe(colours.get("b"));
  expect(colours.get("d")).toBe("#9aa3ad");
});

test("a scale goes from pale to strong", () => {
  const scale: ParallelAxis = { ...words, words: null, places: [0, 0.5, 1, null], texts: ["1", "2", "3", "–"] };
  const colours = coloursByAxis(scale, ["a", "b", "c", "d"], "light");
  expect(new Set(colours.values()).size).toBe(4);
});

test("groups stand in the order of their values, with those that have none last", () => {
  expect(groupsByAxis(words, ["a", "b", "c", "d"], "light").map(({ text, ids }) => [text, ids])).toEqual([
    ["adam", ["a", "c"]],
    ["sgd", ["b"]],
    ["–", ["d"]],
  ]);
});
