import { expect, it } from "vitest";
import { nullableFloat64, StringColumn } from "#base/columns.ts";
import { hashRows, hashRowsInSteps } from "./content-hash.ts";

const mebibyte = 1024 * 1024;

/** Texts of these lengths, each of other bytes. */
function textsOf(lengths: readonly number[]): StringColumn {
  const column = new StringColumn();
  lengths.forEach((length, at) => {
    column.pushBytes(Uint8Array.from({ length }, (_, byte) => (byte * 31 + at * 7) & 0xff));
  });
  return column;
}

it("hashes long texts in steps as it does at once, wherever a step ends", () => {
  const lengths = [3, 0, 2.5 * mebibyte, mebibyte / 2, 1, mebibyte / 2 - 1, 700_000];
  const numbers = nullableFloat64();
  for (const length of lengths) numbers.present().push(length);
  const columns = [textsOf(lengths), numbers, textsOf(lengths.toReversed())];
  const steps = hashRowsInSteps(columns, lengths.length);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(Array.from(step.value)).toEqual(Array.from(hashRows(columns, lengths.length)));
  expect(pauses).toBeGreaterThan(16);
});
