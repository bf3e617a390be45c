import { expect, test } from "vitest";
import {
  decimalsOfColumn,
  digitsOfColumn,
  formatBytes,
  formatCount,
  formatDecimals,
  formatFloat,
  formatNumber,
  formatPercent,
  formatSi,
} from "./format-number.ts";

test("shows four significant digits without trailing zeros", () => {
  expect([1.7132, 0.003, 14.25, 123.456, 1234.5678, 0.00012345].map((v) => formatNumber(v))).toEqual([
    "1.713",
    "0.003",
    "14.25",
    "123.5",
    "1235",
    "0.0001234",
  ]);
});

test("uses exponents only for the very large and the very small", () => {
  expect([1e30, -2.5e-7, 5e-324, 1e7, 9_999_999].map((v) => formatNumber(v))).toEqual([
    "1e30",
    "−2.5e-7",
    "4.941e-324",
    "1e7",
    "9\u202f999\u202f999",
  ]);
});

test("never hides what is not finite, nor a negative zero", () => {
  expect([Number.NaN, Infinity, -Infinity, -0].map((v) => formatNumber(v))).toEqual(["NaN", "+Inf", "−Inf", "−0"]);
  expect(formatFloat("NaN")).toBe("NaN");
  expect(formatFloat("-Infinity")).toBe("−Inf");
  expect(formatFloat(null)).toBe("–");
});

test("shortens axis labels with SI prefixes", () => {
  expect([12_000, 1_500_000, 2e-5, 0.05, 4, 2_000, 6.1e10].map((v) => formatSi(v))).toEqual([
    "12 k",
    "1.5 M",
    "20 µ",
    "0.05",
    "4",
    "2000",
    "61 G",
  ]);
});

test("writes bytes, counts and shares", () => {
  expect([512, 2048, 150_109_880_320].map(formatBytes)).toEqual(["512 B", "2 KiB", "140 GiB"]);
  expect(formatCount(1_234_567)).toBe("1\u202f234\u202f567");
  expect([1, 0.123, 0.0201, 0.0001, 0].map(formatPercent)).toEqual(["100 %", "12 %", "2.0 %", "<0.1 %", "0.0 %"]);
});

test("gives a column enough digits to tell its values apart", () => {
  expect(digitsOfColumn([2.066, 2.067])).toBe(5);
  expect(digitsOfColumn([1, 2, 3])).toBe(3);
  expect(digitsOfColumn([Number.NaN, 3])).toBe(4);
});

test("gives a column one number of decimals, unless it holds exponents or whole numbers only", () => {
  expect(decimalsOfColumn([2.1, 1.8541, 3.058, Number.NaN], 4)).toBe(3);
  expect(decimalsOfColumn([0.03, 1e30], 4)).toBeNull();
  expect(decimalsOfColumn([3, 40], 4)).toBeNull();
  expect(decimalsOfColumn([2.1, 1.8541, 3.058, 0.000_264], 4)).toBe(3);
  expect([0.07264, 0.000_264, 0].map((value) => formatDecimals(value, 3))).toEqual(["0.073", "0.00026", "0.000"]);
  expect([2.1, -12_345.6, Number.NaN].map((value) => formatDecimals(value, 3))).toEqual([
    "2.100",
    "−12\u202f345.600",
    "NaN",
  ]);
});
