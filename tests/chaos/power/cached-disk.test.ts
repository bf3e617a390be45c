import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeFolder } from "../../support/folder.ts";
import { CachedDisk, sectorBytes, settle } from "./cached-disk.ts";

const sectors = 8;

function makeDisk() {
  const folder = makeFolder();
  const [medium, cache] = [join(folder, "medium"), join(folder, "cache")];
  writeFileSync(medium, Buffer.alloc(sectors * sectorBytes));
  const disk = new CachedDisk(medium, cache);
  /** The first byte of each sector. */
  const onMedium = (): number[] => firstOf(readFileSync(medium));
  return { medium, cache, disk, onMedium };
}

const fill = (sector: number, count: number, value: number) => ({
  at: sector * sectorBytes,
  bytes: new Uint8Array(count * sectorBytes).fill(value),
});
const firstOf = (bytes: Uint8Array): number[] =>
  Array.from({ length: bytes.length / sectorBytes }, (_, n) => bytes[n * sectorBytes] as number);

test("reads give what was written last, flushed or not, and only a flush reaches the medium", () => {
  const { disk, onMedium } = makeDisk();
  disk.write(fill(1, 3, 1));
  disk.flush();
  disk.write(fill(2, 2, 2));
  disk.write(fill(3, 1, 3));
  expect(firstOf(disk.read(0, sectors * sectorBytes))).toEqual([0, 1, 2, 3, 0, 0, 0, 0]);
  expect([...disk.read(3 * sectorBytes - 2, 4)]).toEqual([2, 2, 3, 3]);
  expect(onMedium()).toEqual([0, 1, 1, 1, 0, 0, 0, 0]);
  disk.close();
});

test("a disk that loses power keeps what was flushed, and of each later write only the sectors it had got round to", () => {
  const { medium, cache, disk, onMedium } = makeDisk();
  disk.write(fill(0, 4, 1));
  disk.flush();
  disk.write(fill(0, 2, 2));
  disk.write(fill(1, 3, 3));
  disk.close();
  expect(settle(medium, cache, (write, sector) => write === 1 && sector === 2)).toEqual({ cached: 5, lost: 4 });
  expect(onMedium()).toEqual([1, 1, 1, 3, 0, 0, 0, 0]);
});

test("a write that was cut off on its way into the cache comes through sector by sector or not at all", () => {
  const { medium, cache, disk, onMedium } = makeDisk();
  disk.write(fill(0, 1, 1));
  disk.write(fill(1, 4, 2));
  disk.close();
  truncateSync(cache, readFileSync(cache).length - 2 * sectorBytes - 100);
  expect(settle(medium, cache, () => true)).toEqual({ cached: 2, lost: 0 });
  expect(onMedium()).toEqual([1, 2, 0, 0, 0, 0, 0, 0]);
});

test("whatever is written, flushed and kept, a sector holds its flushed bytes or those of a later write", () => {
  const write = fc.record({ sector: fc.nat(6), count: fc.constantFrom(1, 2), isFlush: fc.boolean() });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 20 }), fc.infiniteStream(fc.boolean()), (steps, kept) => {
      const { medium, cache, disk, onMedium } = makeDisk();
      const allowed = Array.from({ length: sectors }, () => new Set([0]));
      const newest = new Array<number>(sectors).fill(0);
      for (const [n, { sector, count, isFlush }] of steps.entries()) {
        disk.write(fill(sector, count, n + 1));
        for (let at = sector; at < sector + count; at++) {
          newest[at] = n + 1;
          allowed[at]?.add(n + 1);
        }
        if (!isFlush) continue;
        disk.flush();
        for (const [at, value] of newest.entries()) allowed[at] = new Set([value]);
      }
      expect(firstOf(disk.read(0, sectors * sectorBytes))).toEqual(newest);
      disk.close();
      settle(medium, cache, () => kept.next().value as boolean);
      for (const [at, value] of onMedium().entries()) expect(allowed[at]).toContain(value);
    }),
  );
});
