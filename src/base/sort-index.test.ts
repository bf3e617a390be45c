import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeSorted, sortIndex, sortIndexInSteps } from "./sort-index.ts";
import { countPauses } from "./turns.testing.ts";
import { atOnce } from "./turns.ts";

test("sorts places as a stable sort of their values does", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 400 }), (values) => {
      const index = Uint32Array.from(values, (_, at) => at);
      const compare = (a: number, b: number) => (values[a] as number) - (values[b] as number);
      const expected = [...index].sort(compare);
      sortIndex(index, compare);
      expect([...index]).toEqual(expected);
    }),
  );
});

test("sorts what comes as a few sorted runs, forwards or backwards", () => {
  const values = Array.from({ length: 5000 }, (_, at) => (at * 7) % 1000);
  for (const given of [values, values.toReversed(), values.toSorted((a, b) => a - b)]) {
    const index = Uint32Array.from(given, (_, at) => at);
    sortIndex(index, (a, b) => (given[a] as number) - (given[b] as number));
    expect(Array.from(index, (at) => given[at])).toEqual(given.toSorted((a, b) => a - b));
  }
});

test("merges two sorted lists, the first one's before the second's when equal", () => {
  const values = [1, 3, 3, 9, 0, 3, 7];
  const compare = (a: number, b: number) => (values[a] as number) - (values[b] as number);
  const merged = atOnce(mergeSorted(Uint32Array.of(0, 1, 2, 3), Uint32Array.of(4, 5, 6), compare));
  expect([...merged]).toEqual([4, 0, 1, 2, 5, 6, 3]);
});

test("merges a few with many, on either side, as a stable sort of both does", () => {
  const many = Array.from({ length: 200 }, (_, at) => at >> 2);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1, max: 60 }), { maxLength: 5 }), fc.boolean(), (some, isFirst) => {
      const few = some.toSorted((a, b) => a - b);
      const [a, b] = isFirst ? [few, many] : [many, few];
      const values = [...a, ...b];
      const compare = (x: number, y: number) => (values[x] as number) - (values[y] as number);
      const index = Uint32Array.from(values, (_, at) => at);
      const merged = atOnce(mergeSorted(index.subarray(0, a.length), index.subarray(a.length), compare));
      expect([...merged]).toEqual([...index].sort(compare));
    }),
  );
});

test("sorts and merges hundreds of thousands with pauses", () => {
  const values = Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 300_007);
  const compare = (a: number, b: number) => (values[a] as number) - (values[b] as number);
  const index = Uint32Array.from(values, (_, at) => at);
  const [first, second] = [index.subarray(0, 150_000), index.subarray(150_000)];
  for (const half of [first, second]) expect(countPauses(sortIndexInSteps(half, compare)).pauses).toBeGreaterThan(10);
  const { value: merged, pauses } = countPauses(mergeSorted(first, second, compare));
  expect(merged.every((place, at) => at === 0 || compare(merged[at - 1] as number, place) < 0)).toBe(true);
  expect(pauses).toBeGreaterThan(3);
});
