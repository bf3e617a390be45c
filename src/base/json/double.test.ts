import fc from "fast-check";
import { expect, test } from "vitest";
import { DoubleScan, parseFloatToken } from "./double.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function expectNearest(text: string): void {
  const bytes = encode(text);
  expect(parseFloatToken(bytes, 0, bytes.length), text).toBe(Number(text));
  const scan = new DoubleScan();
  const value = scan.read(bytes, 0, bytes.length);
  if (Number.isNaN(value)) return;
  expect(value, text).toBe(Number(text));
  expect(scan.pos).toBe(bytes.length);
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

test("reads plain numbers in one pass and leaves the others to a cursor", () => {
  const scan = new DoubleScan();
  const read = (text: string) => {
    const bytes = encode(text);
    return [scan.read(bytes, 0, bytes.length), scan.pos];
  };
  expect(read("-0.0,")).toStrictEqual([-0, 4]);
  expect(read("12]")).toStrictEqual([12, 2]);
  for (const text of ["01", "1.", ".5", "-", "1e5", "NaN", "1.2.3", "+1", "", "1234567890123456789"]) {
    expect(read(text)[0], text).toBeNaN();
  }
});
