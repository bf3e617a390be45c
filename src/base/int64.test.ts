import fc from "fast-check";
import { expect, test } from "vitest";
import { toNumbers, toOffsets } from "./int64.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("gives the same numbers as BigInt arithmetic, rounded once", () => {
  fc.assert(
    fc.property(fc.array(int64), int64, (values, base) => {
      const column = BigInt64Array.from(values);
      const offsets = new Float64Array(values.length + 1);
      toOffsets(column, base, offsets, 1);
      expect([...offsets.subarray(1)]).toEqual(values.map((value) => Number(value - base)));
      toNumbers(column, offsets, 1);
      expect([...offsets.subarray(1)]).toEqual(values.map(Number));
    }),
  );
});
