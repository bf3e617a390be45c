import { expect, test } from "vitest";
import { assignColours, colourOf, hashText, heatColour, inkOn } from "./colour.ts";

test("gives a name the same colour for ever", () => {
  expect(hashText("forward")).toBe(hashText("forward"));
  expect(colourOf("forward", "light")).toBe(colourOf("forward", "light"));
  expect(hashText("a")).toBe(0xe40de134);
});

test("keeps the usual spans of a training apart", () => {
  const names = ["forward", "backward", "optimizer_step", "data_load", "step", "epoch"];
  expect(new Set(assignColours(names, "dark").values()).size).toBe(names.length);
});

test("gives sixteen names sixteen colours", () => {
  const names = Array.from({ length: 16 }, (_, i) => `run-${i}`);
  expect(new Set(assignColours(names, "light").values()).size).toBe(16);
});

test("chooses ink that reads on the colour", () => {
  expect(inkOn("#ffffff")).toBe("#10151c");
  expect(inkOn("#0a2c60")).toBe("#ffffff");
});

test("clamps the heat scale at its ends", () => {
  expect(heatColour(-1, "light")).toBe("#edf4fc");
  expect(heatColour(2, "light")).toBe("#0a2c60");
});
