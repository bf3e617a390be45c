import { expect, it } from "vitest";
import { bytePool } from "#base/array-pool.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

const piece = (size: number, byte: number) => new Uint8Array(size).fill(byte);

it.each([true, false])(
  "puts pieces together whatever was announced, in memory that is used again or not (%s)",
  (isReleased) => {
    for (const announcedBytes of [0, 10, 300_000, 50_000_000]) {
      const gathered = new GatheredBytes(isReleased);
      const pieces = [piece(0, 9), piece(65_536, 1), piece(1, 2), piece(200_000, 3), piece(34_463, 4)];
      for (const one of pieces) gathered.add(one, announcedBytes);
      expect(gathered.length).toBe(300_000);
      expect(gathered.view().equals(Buffer.concat(pieces))).toBe(true);
    }
  },
);

it("gives its memory to the next body once it is released, and only once", () => {
  const gathered = new GatheredBytes(true);
  for (const byte of [1, 2]) gathered.add(piece(40_000, byte), 80_000);
  const { buffer } = gathered.view();
  gathered.release();
  gathered.release();
  const taken = [bytePool.take(80_000), bytePool.take(80_000)];
  expect(taken.filter((array) => array.buffer === buffer)).toHaveLength(1);
});

it("takes no memory for what a sender merely announces", () => {
  const gathered = new GatheredBytes(true);
  gathered.add(piece(100, 1), 60_000_000);
  gathered.add(piece(100, 1), 60_000_000);
  expect(gathered.view().buffer.byteLength).toBeLessThan(1 << 20);
});
