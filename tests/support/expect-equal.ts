import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** Like `toEqual`, which takes long for large values and is asked only to show where two of them differ. */
export function expectEqual(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}
