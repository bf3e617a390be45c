// Numbers as people read them: significant digits, no noise, no lost exactness in hovers.

import type { Float } from "#api/contract/scalar.ts";
import { largestOf } from "#base/extremes.ts";

/** The number behind a contract float; null stays null. */
export function toNumber(value: Float | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  return typeof value === "number" ? value : Number(value);
}

/** `digits` significant digits, exponents only where a plain number would be unreadable. */
export function formatNumber(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "−Inf";
  if (value === 0) return Object.is(value, -0) ? "−0" : "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return signed(value, groupThousands(String(size)));
  if (size >= 1e7 || size < 1e-4) return signed(value, trimExponent(size.toExponential(Math.max(0, digits - 1))));
  const whole = Math.floor(Math.log10(size)) + 1;
  const text = size.toFixed(Math.min(12, Math.max(0, digits - Math.max(whole, whole <= 0 ? whole : 1))));
  return signed(value, groupThousands(trimZeros(text)));
}

export function formatFloat(value: Float | null | undefined, digits = 4): string {
  const number = toNumber(value);
  return number === null ? "–" : formatNumber(number, digits);
}

/** Short enough for an axis: 12 k, 1.5 M, 20 µ. */
export function formatSi(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  const power = Math.floor(Math.log10(size) / 3 + 1e-9);
  if (power >= 0 && size < 10_000) return formatNumber(value, Math.max(digits, 4));
  if (size >= 1e-4 && size < 1) return formatNumber(value, digits);
  const unit = siUnits[power + 6];
  if (unit === undefined) return formatNumber(value, digits);
  return `${formatNumber(value / 1000 ** power, digits)}${unit === "" ? "" : ` ${unit}`}`;
}

export function formatCount(value: number): string {
  return groupThousands(String(Math.round(value)));
}

/** "1 run", "12 345 runs". */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${formatNumber(bytes / 1024 ** power, 3)} ${byteUnits[power]}`;
}

export function formatPercent(share: number): string {
  const percent = share * 100;
  if (percent !== 0 && Math.abs(percent) < 0.1) return "<0.1 %";
  return `${percent >= 99.95 || percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/**
 * How many significant digits a column needs, so that values which differ look different,
 * within 3 to 7: the digits of the spread below the largest value.
 */
export function digitsOfColumn(values: readonly number[]): number {
  const finite = values.filter((value) => Number.isFinite(value) && value !== 0);
  if (finite.length < 2) return 4;
  const largest = largestOf(finite.map(Math.abs));
  const sorted = [...new Set(finite)].sort((a, b) => a - b);
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = 1; i < sorted.length; i++) smallest = Math.min(smallest, (sorted[i] ?? 0) - (sorted[i - 1] ?? 0));
  if (!Number.isFinite(smallest)) return 4;
  return Math.max(3, Math.min(7, Math.ceil(Math.log10(largest / smallest)) + 1));
}

/**
 * How many decimals a column of like numbers shows, so that their points stand below each other; null where exponents
 * or whole numbers only make that useless. The usual value decides: one small value does not give all the others digits.
 */
export function decimalsOfColumn(values: readonly number[], digits: number): number | null {
  const finite = values.filter(Number.isFinite);
  const texts = finite.map((value) => formatNumber(value, digits));
  if (texts.some((text) => text.includes("e"))) return null;
  const sizes = finite.filter((value) => value !== 0).map(Math.abs);
  const usual = sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? 1;
  const wanted = Math.max(0, digits - 1 - Math.floor(Math.log10(usual)));
  const decimals = Math.min(wanted, largestOf([0, ...texts.map((text) => text.split(".")[1]?.length ?? 0)]));
  return decimals === 0 || decimals > 6 ? null : decimals;
}

/** A value that would have less than two digits keeps two. */
export function formatDecimals(value: number, decimals: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 10 ** (1 - decimals);
  return isSmall || !Number.isFinite(value)
    ? formatNumber(value, 2)
    : signed(value, groupThousands(Math.abs(value).toFixed(decimals)));
}

const siUnits = ["a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];
const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function signed(value: number, text: string): string {
  return value < 0 ? `−${text}` : text;
}

function groupThousands(text: string): string {
  const [whole = "", rest] = text.split(".");
  const grouped = whole.length < 5 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function trimExponent(text: string): string {
  const [mantissa = "", exponent = ""] = text.split("e");
  return `${trimZeros(mantissa)}e${exponent.replace("+", "")}`;
}
