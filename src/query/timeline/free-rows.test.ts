import fc from "fast-check";
import { expect, test } from "vitest";
import { FreeRows } from "./free-rows.ts";

const rowsMax = 64;

/** One by one, however many there are. */
function takePlainly(freeAt: number[], begins: number, ends: number): number {
  let row = 0;
  while (row < freeAt.length && (freeAt[row] as number) > begins && row < rowsMax) row++;
  if (row < rowsMax) freeAt[row] = ends;
  return row;
}

test("takes the first row that is free, as looking at one after the other would", () => {
  const spans = fc.array(fc.tuple(fc.nat(3), fc.nat(200)), { minLength: 150, maxLength: 300 });
  fc.assert(
    fc.property(spans, (steps) => {
      const rows = new FreeRows(rowsMax);
      const freeAt: number[] = [];
      let begins = 0;
      for (const [wait, length] of steps) {
        begins += wait;
        expect(rows.take(begins, begins + length)).toBe(takePlainly(freeAt, begins, begins + length));
      }
    }),
  );
});

test("says so when all rows are taken", () => {
  const rows = new FreeRows(rowsMax);
  const taken = Array.from({ length: rowsMax + 2 }, () => rows.take(1, 9));
  expect(taken).toEqual([...Array.from({ length: rowsMax }, (_, row) => row), rowsMax, rowsMax]);
  expect(rows.take(9, 10)).toBe(0);
});
