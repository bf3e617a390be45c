import fc from "fast-check";
import { expect, test } from "vitest";
import { Int64Column } from "#base/columns.ts";
import { type Int64Words, parseDigitsOnly, parseDouble, parseInt64 } from "./number.ts";
import { numberForm } from "./tokens.ts";

const words: Int64Words = { low: 0, high: 0 };

function parsed(text: string): bigint | "too large" {
  const bytes = new TextEncoder().encode(`x${text}9`);
  if (!parseInt64(bytes, 1, 1 + text.length, words)) return "too large";
  const column = new Int64Column();
  column.pushWords(words.low, words.high);
  return column.at(0);
}

test("parses every 64-bit integer into the words of its column", () => {
  const limit = 2n ** 63n;
  fc.assert(
    fc.property(fc.bigInt({ min: -limit, max: limit - 1n }), (value) => {
      expect(parsed(String(value))).toBe(value);
    }),
    { numRuns: 6000 },
  );
  for (let bits = 0n; bits < 63n; bits++) {
    for (const delta of [-1n, 0n, 1n]) {
      const value = (1n << bits) + delta;
      expect(parsed(String(value))).toBe(value);
      expect(parsed(String(-value))).toBe(-value);
    }
  }
  expect(parsed("-0")).toBe(0n);
  expect(parsed(String(limit - 1n))).toBe(limit - 1n);
  expect(parsed(String(-limit))).toBe(-limit);
});

test("refuses every integer beyond 64 bits", () => {
  const limit = 2n ** 63n;
  fc.assert(
    fc.property(fc.bigInt({ min: limit, max: limit * 64n }), (value) => {
      expect(parsed(String(value))).toBe("too large");
      expect(parsed(String(-value - 1n))).toBe("too large");
    }),
  );
  expect(parsed(`1${"0".repeat(100)}`)).toBe("too large");
});

test("rounds integers of any length to the double that JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n }), (value) => {
      const bytes = new TextEncoder().encode(String(value));
      expect(parseDouble(bytes, 0, bytes.length, numberForm.integer)).toBe(Number(value));
    }),
    { numRuns: 5000 },
  );
});

test("takes digits alone for a whole number, and nothing else", () => {
  const parseText = (text: string) => parseDigitsOnly(new TextEncoder().encode(`1${text}2`), 1, 1 + text.length);
  expect(["0", "0042", "999999999999999"].map(parseText)).toEqual([0, 42, 999_999_999_999_999]);
  expect(["", "-1", "1.5", "1e3", " 1", "1000000000000000"].map(parseText)).toEqual([-1, -1, -1, -1, -1, -1]);
});
