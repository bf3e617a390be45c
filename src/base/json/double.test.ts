import fc from "fast-check";
import { expect, test } from "vitest";
import { parseFloatToken } from "./double.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function expectNearest(text: string): void {
  const bytes = encode(text);
  expect(parseFloatToken(bytes, 0, bytes.length), text).toBe(Number(text));
}

test("gives the nearest double for every token of up to 25 digits", () => {
  const token = fc.stringMatching(/^-?(0|[1-9][0-9]{0,12})\.[0-9]{1,12}([eE][+-]?[0-9]{1,2})?$/);
  fc.assert(fc.property(token, expectNearest), { numRuns: 6000 });
});

test("gives back every double from its shortest text, and every single as Python prints it", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => expectNearest(`${value}`)),
    { numRuns: 6000 },
  );
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => expectNearest(`${value}`)),
    { numRuns: 6000 },
  );
});

test("does not trust itself half way between two doubles", () => {
  // Odd numbers of 54 bits lie exactly between two doubles, and so do their halves and quarters.
  fc.assert(
    fc.property(
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }),
      fc.nat(3),
      fc.constantFrom(-1n, 0n, 1n),
      (half, shift, off) => {
        const digits = String((half | 1n) * 5n ** BigInt(shift) + off);
        const at = digits.length - shift;
        expectNearest(`${digits.slice(0, at)}.${digits.slice(at)}0`);
      },
    ),
    { numRuns: 6000 },
  );
});
