import fc from "fast-check";
import { expect, it } from "vitest";
import { type TensorLike, toKnownTensor, toStats } from "./tensor.ts";

const statsOf = (tensor: TensorLike) => {
  const known = toKnownTensor("t", tensor);
  if (known === undefined) throw new Error("not a tensor");
  return toStats(known);
};

const finite = { minLength: 1, noNaN: true, noDefaultInfinity: true };

it("computes what NumPy computes for the same numbers [CT-13]", () => {
  // np.arange(6): mean, std (population), min, max, norm, np.histogram(a, 16)
  const stats = statsOf(BigInt64Array.from([0n, 1n, 2n, 3n, 4n, 5n]));
  expect(stats).toMatchObject({ mean: 2.5, min: 0, max: 5 });
  expect(stats.std).toBeCloseTo(1.707825127659933, 14);
  expect(stats.norm).toBeCloseTo(7.416198487095663, 14);
  expect([...stats.counts]).toEqual([1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
  expect([...stats.bins]).toEqual(Array.from({ length: 17 }, (_, i) => i * 0.3125));
});

it("has 17 edges from the smallest to the largest value and counts every element once [CT-13]", () => {
  fc.assert(
    fc.property(fc.oneof(fc.float32Array(finite), fc.float64Array(finite), fc.int16Array({ minLength: 1 })), (data) => {
      const stats = statsOf(data);
      expect(stats.bins).toHaveLength(17);
      expect(stats.counts).toHaveLength(16);
      expect(stats.bins.every(Number.isFinite)).toBe(true);
      expect((stats.bins[0] as number) === stats.min).toBe(true);
      if (stats.max > stats.min) expect(stats.bins[16]).toBe(stats.max);
      expect(stats.counts.reduce((sum, count) => sum + count, 0)).toBe(data.length);
      expect(stats.min === Math.min(...data) && stats.max === Math.max(...data)).toBe(true);
    }),
  );
});

it("keeps its bins between the smallest and between the largest numbers there are", () => {
  expect(statsOf(Float64Array.of(0, Number.MIN_VALUE)).counts).toMatchObject({ 0: 1, 15: 1 });
  const wide = statsOf(Float64Array.of(-Number.MAX_VALUE, 0, Number.MAX_VALUE));
  expect(wide.counts).toMatchObject({ 0: 1, 8: 1, 15: 1 });
  expect(wide.bins[8]).toBe(0);
});

it("gives a constant tensor one unit of width", () => {
  const stats = statsOf(new Float64Array(8).fill(3));
  expect(stats).toMatchObject({ mean: 3, std: 0, min: 3, max: 3 });
  expect(stats.bins[16]).toBe(4);
  expect(stats.counts[0]).toBe(8);
});

it("counts an empty tensor as zeros", () => {
  const stats = statsOf({ data: new Float32Array(0), shape: [0, 5] });
  expect(stats).toMatchObject({ mean: 0, std: 0, min: 0, max: 0, norm: 0 });
  expect([...stats.bins]).toEqual(new Array(17).fill(0));
});

it("shows NaN in the moments and keeps the histogram of the finite values", () => {
  const stats = statsOf(Float32Array.from([1, Number.NaN, 2, Number.POSITIVE_INFINITY]));
  expect(stats).toMatchObject({ mean: Number.NaN, norm: Number.NaN, min: 1, max: 2, nonFinite: 2 });
  expect(stats.counts.reduce((sum, count) => sum + count, 0)).toBe(2);
});

it("reads half floats", () => {
  const half = Uint16Array.from([0x3c00, 0xc000, 0x7bff, 0x0001]);
  expect(statsOf({ data: half, dtype: "float16" })).toMatchObject({ min: -2, max: 65504 });
  const brain = Uint16Array.from([0x3f80, 0xc000]);
  expect(statsOf({ data: brain, dtype: "bfloat16" })).toMatchObject({ min: -2, max: 1, mean: -0.5 });
});

it("refuses what is no tensor", () => {
  expect(toKnownTensor("t", { data: new Float32Array(6), shape: [2, 2] })).toBeUndefined();
  expect(toKnownTensor("t", [1, 2] as unknown as TensorLike)).toBeUndefined();
  expect(toKnownTensor("t", { data: new Float32Array(2), dtype: "bfloat16" })).toBeUndefined();
});
