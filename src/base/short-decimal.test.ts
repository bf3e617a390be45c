import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShortDecimal } from "./short-decimal.ts";

const decimal = new ShortDecimal();
const read = (text: string) => {
  const bytes = new TextEncoder().encode(`${text},`);
  const end = decimal.read(bytes, new DataView(bytes.buffer), 0);
  return end < 0 ? undefined : { end, value: decimal.out[0] as number, isExact: decimal.isExact };
};

/** Checks one text against the runtime; true when it was read here. */
function check(text: string): boolean {
  const found = read(text);
  if (found === undefined) return false;
  // No `expect` here: it would take most of the time of half a million checks.
  if (found.end !== text.length || !Object.is(found.value, Number(text)))
    throw new Error(`${text} read as ${found.value}`);
  return true;
}

describe("ShortDecimal", () => {
  it("reads what Python and JavaScript print, as the runtime reads it", () => {
    let taken = 0;
    let seed = 12345;
    const next = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return seed / 4294967296;
    };
    const texts: string[] = [];
    for (let i = 0; i < 40_000; i++) {
      const value = (next() + next() / 4294967296) * 10 ** Math.floor(next() * 12 - 6);
      texts.push(String(value), String(Math.fround(value)), value.toPrecision(17), value.toFixed(4));
    }
    for (const text of texts) if (check(text)) taken++;
    expect(taken / texts.length).toBeGreaterThan(0.95);
  });

  it("says that a text with 16 or 17 digits is exact only when the double prints as it", () => {
    fc.assert(
      fc.property(fc.bigInt(10n ** 15n, 10n ** 18n), fc.integer({ min: 1, max: 20 }), (digits, scale) => {
        const text = digits
          .toString()
          .padStart(scale + 1, "0")
          .replace(new RegExp(`(\\d{${scale}})$`), ".$1");
        const found = read(text);
        if (found === undefined || !found.isExact) return;
        const length = digits.toString().length;
        const printed = [found.value.toPrecision(length), String(found.value)].map((print) =>
          print.replace(/e.*/, "").replace(".", "").replace(/^0+/, ""),
        );
        expect(printed, text).toContain(digits.toString());
      }),
      { numRuns: 3000 },
    );
    for (let i = 0; i < 20_000; i++) {
      const text = String(Math.random() * 100);
      expect(read(text)?.isExact ?? true, text).toBe(true);
    }
  });

  it("reads values next to halfway points between doubles rightly or not at all", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), fc.integer({ min: -2, max: 2 }), (value, nudge) => {
        const words = new BigUint64Array(new Float64Array([value]).buffer);
        const next = new Float64Array(new BigUint64Array([(words[0] as bigint) + 1n]).buffer)[0] as number;
        const middle = (BigInt(Math.round(value * 2 ** 30)) + BigInt(Math.round(next * 2 ** 30))) / 2n;
        check(`${Number(middle) / 2 ** 30}`);
        const text = (value + (next - value) / 2).toPrecision(19);
        const digits = text.replace(/(\d)(\D*)$/, (_, d, rest) => `${(Number(d) + nudge + 10) % 10}${rest}`);
        check(text);
        check(digits);
      }),
      { numRuns: 5000 },
    );
  });

  it("reads integers, signs, zeros and exponents", () => {
    for (const text of [
      "0",
      "-0",
      "0.0",
      "-0.0",
      "7",
      "-12",
      "123456789012",
      "123456789012345",
      "-123456789012345e-3",
      "123456789012.5",
      "1e-05",
      "5.5e-7",
      "1e5",
      "1E+2",
      "0.001",
      "0e0",
    ]) {
      expect(check(text), text).toBe(true);
    }
  });

  it("leaves what is no number, or one of another kind, to others", () => {
    for (const text of [
      "",
      "-",
      "01",
      "00",
      ".5",
      "1.",
      "-a",
      "1e",
      "1e+",
      "NaN",
      "1e400",
      "1e-400",
      "1234567890123456",
      "1234567890123.5",
      "12345678901234567890",
      "9007199254740993",
      "0.12345678901234567890123",
      "1.5e-4000",
    ]) {
      expect(read(text), text).toBeUndefined();
    }
  });
});
