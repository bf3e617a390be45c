// JSON as Python's `json.dumps` writes it, so that bytes and hashes equal those of the real driver.
// Both languages print the fewest digits of a double that read back as the same, but in different forms: Python keeps
// `.0`, and writes an exponent from 1e16 up and below 1e-4, with at least two digits.

import { compareText } from "#base/compare-text.ts";
import { NumberText } from "#base/json/value.ts";

/** A number that Python has as a float, so that 1 is written `1.0`. JavaScript has only one kind of number. */
export class PythonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A plain number counts as an int if it is a safe integer, otherwise as a float. */
export type PythonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberText
  | PythonFloat
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue | undefined };

export interface PythonStyle {
  readonly itemEnd: string;
  readonly keyEnd: string;
  /** How a string or key is written, quotes included. */
  readonly text: (text: string) => string;
}

/** Keys are sorted at every level; a member that is undefined is left out. */
export function formatPythonJson(value: PythonValue, style: PythonStyle): string {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return isPythonInt(value) ? String(value) : formatPythonFloat(value);
  if (typeof value === "string") return style.text(value);
  if (value instanceof NumberText) return value.text;
  if (value instanceof PythonFloat) return formatPythonFloat(value.value);
  if (isList(value)) return `[${value.map((item) => formatPythonJson(item, style)).join(style.itemEnd)}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort(compareText)) {
    const member = value[key];
    if (member === undefined) continue;
    members.push(`${style.text(key)}${style.keyEnd}${formatPythonJson(member, style)}`);
  }
  return `{${members.join(style.itemEnd)}}`;
}

export function formatPythonFloat(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return "-0.0";
  if (value === 0) return "0.0";
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= 16 || exponent < -4) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  return placePoint(mantissa, exponent);
}

/** `mantissa` is d.ddd, and -4 ≤ exponent < 16. */
function placePoint(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function isPythonInt(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

function isList(value: object): value is readonly PythonValue[] {
  return Array.isArray(value);
}
