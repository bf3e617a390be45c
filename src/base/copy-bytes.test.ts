import { expect, it } from "vitest";
import { bytePool } from "./array-pool.ts";
import { copyBytes } from "./copy-bytes.ts";

it("copies any part of any array to any place, and changes nothing beside it", () => {
  const plain = Uint8Array.from({ length: 5000 }, (_, at) => (at * 7) & 255);
  const pooled = bytePool.take(5000);
  pooled.set(plain);
  for (const source of [plain, pooled]) {
    for (const target of [new Uint8Array(8192), bytePool.take(8192)]) {
      for (const [from, to, at] of [
        [0, 0, 5],
        [3, 50, 0],
        [3, 51, 1],
        [0, 5000, 0],
        [1, 4999, 3000],
      ] as const) {
        target.fill(1);
        copyBytes(source, from, to, target, at);
        const expected = new Uint8Array(target.length).fill(1);
        expected.set(plain.subarray(from, to), at);
        expect(Buffer.compare(target, expected)).toBe(0);
      }
    }
  }
});
