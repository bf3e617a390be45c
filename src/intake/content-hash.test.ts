import { expect, it } from "vitest";
import { StringColumn } from "#base/columns.ts";
import { atOnce } from "#base/turns.ts";
import { hashRows } from "./content-hash.ts";

const mebibyte = 1024 * 1024;

/** Texts of these lengths, each of other bytes. */
function textsOf(lengths: readonly number[]): StringColumn {
  const column = new StringColumn();
  lengths.forEach((length, at) => {
    column.pushBytes(Uint8Array.from({ length }, (_, byte) => (byte * 31 + at * 7) & 0xff));
  });
  return column;
}

/** The hash of a row of one text, written down once more: it is stored, so it never changes. */
function hashOf(text: Uint8Array): number {
  let hash = text.length;
  for (const byte of text) hash = Math.imul(hash ^ byte, 0x01000193);
  return (Math.imul(0x811c9dc5 ^ hash, 0x01000193) ^ ((0x811c9dc5 | 0) >>> 15)) >>> 0;
}

it("hashes long texts in steps, wherever a step ends", () => {
  const lengths = [3, 0, 2.5 * mebibyte, mebibyte / 2, 1, mebibyte / 2 - 1, 700_000];
  const texts = textsOf(lengths);
  const steps = hashRows([texts], lengths.length);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(Array.from(step.value)).toEqual(lengths.map((_, row) => hashOf(texts.bytesAt(row))));
  expect(pauses).toBeGreaterThan(8);
});

it("gives each row the hash that it has alone", () => {
  const [one, both] = [textsOf([5]), textsOf([5, 6])];
  expect(atOnce(hashRows([both, both], 2))[0]).toBe(atOnce(hashRows([one, one], 1))[0]);
});
