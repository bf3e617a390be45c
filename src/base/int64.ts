// 64-bit integers as offsets from a base, without a BigInt for each, which would be far slower.

/** 2 ** 32. */
const high = 4294967296;

/** Writes `values[i] - base` as numbers from `at` on, correctly rounded: exact up to 2 ** 53. */
export function toOffsets(values: BigInt64Array, base: bigint, into: Float64Array, at: number): void {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const baseHigh = Number(base >> 32n);
  const baseLow = Number(base & 0xffffffffn);
  for (let i = 0; i < values.length; i++)
    into[at + i] = ((words[2 * i + 1] as number) - baseHigh) * high + (((words[2 * i] as number) >>> 0) - baseLow);
}

/** Writes the values themselves as numbers, correctly rounded. */
export function toNumbers(values: BigInt64Array, into: Float64Array, at: number): void {
  toOffsets(values, 0n, into, at);
}

export const int64Max: bigint = 2n ** 63n - 1n;

/** The nearest number that an Int64 column holds, apart from the least one, which often stands for none. */
export function clampInt64(value: bigint): bigint {
  return value > int64Max ? int64Max : value < -int64Max ? -int64Max : value;
}
