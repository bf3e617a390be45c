import { expect, test } from "vitest";
import { formatSi } from "../text/format-number.ts";
import { symlogLinear, tickTexts, valueTicks } from "./ticks.ts";

const distinct = (texts: readonly string[]) => expect(new Set(texts).size).toBe(texts.length);

test("labels of neighbours differ, however close they are", () => {
  const close = valueTicks("linear", { min: 102.63, max: 102.67 }, 1, 5);
  distinct(tickTexts(close));
  const epoch = valueTicks("linear", { min: 1.79e12, max: 1.79e12 + 4000 }, 1, 5);
  const texts = tickTexts(epoch);
  distinct(texts);
  expect(texts[0]).toBe("≈1.79e12");
  expect(texts[1]).toMatch(/^\+/);
});

test("numbers without a unit are written as the readout writes them", () => {
  expect(tickTexts([0, 5e-13, 1e-12])).toEqual(["0", "5e-13", "1e-12"]);
  expect(tickTexts([0, 1e9, 2e9])).toEqual(["0", "1e9", "2e9"]);
  expect(tickTexts([0, 0.5, 1])).toEqual(["0", "0.5", "1"]);
  expect(tickTexts([1002.5, 1002.75, 1003])).toEqual(["1002.5", "1002.75", "1003"]);
});

test("a log axis has a few round marks, over nine decades and within one", () => {
  expect(valueTicks("log", { min: 1e-9, max: 1 }, 1, 5)).toHaveLength(5);
  expect(valueTicks("log", { min: 0.5, max: 40 }, 1, 5)).toEqual([0.5, 1, 2, 5, 10, 20]);
  const narrow = valueTicks("log", { min: 21, max: 84 }, 1, 5);
  expect(narrow.length).toBeGreaterThanOrEqual(2);
  distinct(tickTexts(narrow));
});

test("a symlog axis fits tiny and huge values, to both sides of zero", () => {
  const tiny = symlogLinear([1e-12, 5e-10, null, 0]);
  expect(valueTicks("symlog", { min: 0, max: 5e-10 }, tiny, 5).length).toBeGreaterThanOrEqual(3);
  const both = valueTicks("symlog", { min: -1000, max: 1000 }, symlogLinear([-1000, 1, 1000]), 6);
  expect(both).toContain(0);
  expect(both.length).toBeLessThanOrEqual(8);
  expect(symlogLinear([])).toBe(1);
});

test("values beyond thirty powers of ten have marks too", () => {
  const ticks = valueTicks("linear", { min: 1e300, max: 6e300 }, 1, 5);
  expect(ticks.length).toBeGreaterThanOrEqual(3);
  distinct(tickTexts(ticks));
});

test("steps far from 0 are told apart on a narrow axis", () => {
  expect(tickTexts([1_234_050, 1_234_100, 1_234_150], formatSi)).toEqual(["1.23405 M", "1.2341 M", "1.23415 M"]);
  expect(tickTexts([0, 5_000, 10_000, 15_000], formatSi)).toEqual(["0", "5000", "10 k", "15 k"]);
  distinct(tickTexts([9_007_199_254_741_000, 9_007_199_254_741_010, 9_007_199_254_741_020], formatSi));
});
