import { expect, it } from "vitest";
import { GatheredPieces } from "./gathered-pieces.ts";

const piece = (length: number, from: number) => Uint8Array.from({ length }, (_, at) => (from + at) % 251);

function takeAll(gathered: GatheredPieces): { lengths: number[]; bytes: Buffer; isLent: boolean[] } {
  const parts: Uint8Array[] = [];
  const isLent: boolean[] = [];
  for (let joined = gathered.take(); joined !== undefined; joined = gathered.take()) {
    parts.push(joined.memory.slice(joined.start, joined.end));
    isLent.push(joined.isLent);
    expect(joined.isLent ? joined.start : 0).toBe(joined.start);
  }
  return { lengths: parts.map(({ length }) => length), bytes: Buffer.concat(parts), isLent };
}

it("gives pieces in their order, put together up to half a megabyte with the room before them", () => {
  const gathered = new GatheredPieces();
  const sizes = [10, 0, 300_000, 100_000, 90_000, 60_000, 2_000_000, 5];
  const pieces = sizes.map((size, at) => piece(size, at * 7));
  for (const one of pieces) gathered.add(one);
  const all = Buffer.concat(pieces);
  expect(gathered.bytes).toBe(all.length);
  const taken = takeAll(gathered);
  expect(taken.bytes.equals(all)).toBe(true);
  expect(taken.lengths).toEqual([400_010, 150_000, 2_000_000, 5]);
  expect(taken.isLent).toEqual([true, true, true, false]);
  expect([gathered.bytes, gathered.take()]).toEqual([0, undefined]);
});

it("gives a few small pieces as one, and a single one as it came", () => {
  const gathered = new GatheredPieces();
  const one = piece(100, 0);
  gathered.add(one);
  expect(gathered.take()?.memory).toBe(one);
  gathered.add(one);
  gathered.add(piece(50, 100));
  expect(gathered.take()).toEqual({ memory: piece(150, 0), start: 0, end: 150, isLent: false, pieces: 2 });
});
