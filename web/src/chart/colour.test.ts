import { expect, test } from "vitest";
import { assignColour, distinctColour, hashText, heatColour, inkOn } from "./colour.ts";

test("gives a name the same colour for ever", () => {
  expect(hashText("forward")).toBe(hashText("forward"));
  expect(hashText("a")).toBe(0xe40de134);
});

const coloursOf = (names: readonly string[], theme: "light" | "dark") => {
  const places = new Map<string, number>();
  return new Set(names.map((name) => assignColour(places, name, theme)));
};

test("keeps the usual spans of a training apart", () => {
  const names = ["forward", "backward", "optimizer_step", "data_load", "step", "epoch"];
  expect(coloursOf(names, "dark").size).toBe(names.length);
});

test("gives sixteen names sixteen colours", () => {
  const names = Array.from({ length: 16 }, (_, i) => `run-${i}`);
  expect(coloursOf(names, "light").size).toBe(16);
});

test("chooses ink that reads on the colour", () => {
  expect(inkOn("#ffffff")).toBe("#10151c");
  expect(inkOn("#0a2c60")).toBe("#ffffff");
});

test("clamps the heat scale at its ends", () => {
  expect(heatColour(-1, "light")).toBe("#edf4fc");
  expect(heatColour(2, "light")).toBe("#0a2c60");
});

/** A rough distance of two colours as the eye sees it: in OKLab, black and white are 1 apart. */
function apart(a: string, b: string): number {
  const lab = (colour: string): number[] => {
    const [r = 0, g = 0, blue = 0] = [1, 3, 5].map((at) => {
      const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    });
    const l = Math.cbrt(0.4122 * r + 0.5363 * g + 0.0514 * blue);
    const m = Math.cbrt(0.2119 * r + 0.6807 * g + 0.1074 * blue);
    const s = Math.cbrt(0.0883 * r + 0.2817 * g + 0.63 * blue);
    return [
      0.2105 * l + 0.7936 * m - 0.0041 * s,
      1.978 * l - 2.4286 * m + 0.4506 * s,
      0.0259 * l + 0.7828 * m - 0.8087 * s,
    ];
  };
  const [one, other] = [lab(a), lab(b)];
  return Math.hypot(...one.map((value, i) => value - (other[i] ?? 0)));
}

test.each(["light", "dark"] as const)("gives what is on screen colours that can be told apart, %s", (theme) => {
  const colours = Array.from({ length: 100 }, (_, i) => distinctColour(i, theme));
  expect(new Set(colours).size).toBe(100);
  const closest = (count: number) =>
    Math.min(...colours.slice(0, count).flatMap((a, i) => colours.slice(0, i).map((b) => apart(a, b))));
  expect(closest(2)).toBeGreaterThan(0.2);
  expect(closest(8)).toBeGreaterThan(0.08);
});
