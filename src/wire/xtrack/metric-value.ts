// Metric values and steps as the store keeps them: the nearest double, and the literal beside it when that says more.

import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { parseDouble } from "#base/json/number.ts";
import { decodeAscii } from "#base/json/text.ts";

export interface MetricNumber {
  /** null when the value is not a number. */
  readonly value: number | null;
  readonly isExact: boolean;
}

const smallestNormal = 2.2250738585072014e-308;
const notNumber: MetricNumber = { value: null, isExact: false };

/** The value whose text is bytes[start..end). */
export function toMetricNumber(
  bytes: Uint8Array,
  start: number,
  end: number,
  kind: number,
  form: number,
): MetricNumber {
  if (kind !== jsonKind.number) return notNumber;
  const value = parseDouble(bytes, start, end, form);
  if (form === numberForm.nonFinite) return { value, isExact: true };
  // 15 characters hold at most 15 digits, which every normal double gives back.
  if (end - start <= 15 && (form === numberForm.integer || Math.abs(value) >= smallestNormal))
    return { value, isExact: Number.isFinite(value) };
  return { value, isExact: isLiteral(value, decodeAscii(bytes, start, end), form) };
}

/** Whether the double, printed with as many digits or as few as it needs, is the literal again. */
function isLiteral(value: number, literal: string, form: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (form === numberForm.integer) return BigInt(value) === BigInt(literal);
  const decimal = toDecimal(literal);
  const digits = Math.max(1, decimal.digits.length);
  if (digits > 100) return false;
  if (digits <= 15 && Math.abs(value) >= smallestNormal) return true;
  // Halfway between two texts, toPrecision and the shortest printing may choose differently; both are the double.
  return isSame(toDecimal(value.toPrecision(digits)), decimal) || isSame(toDecimal(String(value)), decimal);
}

function isSame(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && (a.digits === "" || a.exponent === b.exponent);
}

interface Decimal {
  /** Without leading and trailing zeros; '' for zero. */
  readonly digits: string;
  /** Power of ten of the last digit. */
  readonly exponent: number;
}

function toDecimal(literal: string): Decimal {
  const [mantissa = "", power = "0"] = literal.replace(/^-/, "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) };
}
