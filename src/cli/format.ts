// Numbers and times as people read them. Exact values are in --json.

import { nowNs } from "#base/clock.ts";

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
];

/** `1d 2h`, `3m 12s`, `1.5s`, `12ms`, `340µs`: two parts at most. Times come as the API gives them; '' for none. */
export function formatDuration(ns: string | null): string {
  if (ns === null) return "";
  const seconds = Number(ns) / 1e9;
  if (seconds < 0) return `-${formatDuration(ns.slice(1))}`;
  if (seconds < 1e-6) return `${ns}ns`;
  if (seconds < 1e-3) return `${trim(seconds * 1e6)}µs`;
  if (seconds < 1) return `${trim(seconds * 1e3)}ms`;
  if (seconds < 60) return `${trim(seconds)}s`;
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [unit, size] of units) {
    if (rest >= size || parts.length > 0) parts.push(`${Math.floor(rest / size)}${unit}`);
    rest %= size;
  }
  return [...parts, `${rest}s`].slice(0, 2).join(" ");
}

/** `5m ago`, or `in 5m` when clocks differ. */
export function formatAgo(ns: string | null, now: bigint = nowNs()): string {
  if (ns === null) return "";
  const ago = now - BigInt(ns);
  const second = 1_000_000_000n;
  if (ago < second && ago > -second) return "now";
  const text = formatDuration(`${((ago < 0n ? -ago : ago) / second) * second}`).split(" ")[0];
  return ago < 0n ? `in ${text}` : `${text} ago`;
}

export function formatTime(ns: string): string {
  return new Date(Number(BigInt(ns) / 1_000_000n)).toISOString().replace("T", " ").slice(0, 19);
}

/** Five significant digits; exponents only when a number is very large or small. */
export function formatNumber(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${byteUnits[unit]}`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function trim(value: number): string {
  return String(Number(value.toPrecision(3)));
}
