import { expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.ts";

test("a cursor holds every value that runs are sorted by", () => {
  const values = ["NaN", 'a "b"', null, 0.1, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1.79e18];
  expect(decodeCursor(encodeCursor(values) as string)).toEqual(values.map((value) => (value === 0 ? 0 : value)));
  expect(() => decodeCursor("nonsense")).toThrow("not a cursor");
});
