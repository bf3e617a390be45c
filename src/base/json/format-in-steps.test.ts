import fc from "fast-check";
import { expect, test } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { formatInSteps } from "./format-in-steps.ts";

const joined = (value: unknown): string => countPauses(formatInSteps(value, JSON.stringify)).value.join("");

test("any value is written as JSON.stringify writes it", () => {
  const value = fc.anything({ maxDepth: 4, values: [fc.string(), fc.double(), fc.boolean(), fc.constant(null)] });
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 200 }), (item, count) => {
      const answer = { item, list: Array.from({ length: count }, () => item), none: undefined, empty: {} };
      expect(joined(answer)).toBe(JSON.stringify(answer));
    }),
  );
});

test("long lists are written with pauses, the more the larger their items are", () => {
  const small = { rows: Array.from({ length: 50_000 }, (_, id) => ({ id, name: `n${id}` })) };
  const large = { rows: Array.from({ length: 200 }, () => "é".repeat(64 * 1024)) };
  for (const answer of [small, large]) {
    const { value, pauses } = countPauses(formatInSteps(answer, JSON.stringify));
    expect(value.join("") === JSON.stringify(answer)).toBe(true);
    expect(value.length).toBeGreaterThan(10);
    expect(pauses).toBeGreaterThan(10);
  }
});
