import fc from "fast-check";
import { expect, test } from "vitest";
import { tileOf } from "./tile.ts";

const limits = { from: 0, to: 14e9 };

test("a tile always covers the view", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 13e9, noNaN: true }),
      fc.double({ min: 100, max: 1e9, noNaN: true }),
      (from, length) => {
        const view = { from, to: Math.min(14e9, from + length) };
        const tile = tileOf(view, 1200, limits);
        return tile.from <= view.from && tile.to >= view.to;
      },
    ),
  );
});

test("small pans ask the same question", () => {
  const before = tileOf({ from: 2.0e9, to: 2.9e9 }, 1200, limits);
  expect(tileOf({ from: 2.05e9, to: 2.95e9 }, 1200, limits)).toEqual(before);
});

test("the whole run is one tile", () => {
  const tile = tileOf(limits, 1200, limits);
  expect([tile.from, tile.to]).toEqual([0, 14e9]);
  expect(tile.width).toBeLessThanOrEqual(16_384);
});

test("merges at least as finely as the view has pixels", () => {
  const view = { from: 1e9, to: 1.3e9 };
  const tile = tileOf(view, 1000, limits);
  expect((tile.to - tile.from) / tile.width).toBeLessThanOrEqual((view.to - view.from) / 1000);
});
