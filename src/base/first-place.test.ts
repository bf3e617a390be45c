import fc from "fast-check";
import { expect, it } from "vitest";
import { firstPlace } from "./first-place.ts";

it("finds the place that looking at one after the other would find", () => {
  const sorted = fc.array(fc.integer({ min: 0, max: 20 })).map((values) => values.sort((a, b) => a - b));
  fc.assert(
    fc.property(sorted, fc.integer({ min: -1, max: 21 }), (values, wanted) => {
      const found = values.findIndex((value) => value >= wanted);
      const place = firstPlace(0, values.length, (at) => (values[at] as number) < wanted);
      expect(place).toBe(found < 0 ? values.length : found);
    }),
  );
});
