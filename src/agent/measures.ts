// Times and numbers as a model reads them best: RFC 3339, seconds and milliseconds, six digits.

import { parseRfc3339Ns } from "#base/rfc3339.ts";
import { ToolMistake } from "./mistake.ts";

/** Exact, so that a value from an answer can be used in a question. */
export function toTime(ns: string): string;
export function toTime(ns: string | null): string | null;
export function toTime(ns: string | null): string | null {
  if (ns === null) return null;
  const at = BigInt(ns);
  const second = 1_000_000_000n;
  const rest = ((at % second) + second) % second;
  const fraction = rest === 0n ? "" : `.${rest.toString().padStart(9, "0").replace(/0+$/, "")}`;
  return new Date(Number((at - rest) / 1_000_000n)).toISOString().replace(".000Z", `${fraction}Z`);
}

/** Nanoseconds since the epoch, as the API takes them. */
export function readTime(text: string | undefined, name: string): string | undefined {
  if (text === undefined || /^-?\d{1,19}$/.test(text)) return text;
  const ns = parseRfc3339Ns(text);
  if (ns !== undefined) return ns.toString();
  throw new ToolMistake(
    `${name} ${JSON.stringify(text)} is no time. Write it as 2026-11-15T20:00:00Z or in nanoseconds.`,
  );
}

/** A window of time as the API takes it. */
export function readWindow({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  return { from_ns: readTime(from, "from"), to_ns: readTime(to, "to") };
}

export function toSeconds(ns: string | null): number | null {
  return ns === null ? null : round(Number(ns) / 1e9);
}

export function toMs(ns: string | null): number | null {
  return ns === null ? null : round(Number(ns) / 1e6);
}

export function round<T>(value: T): T | number {
  return typeof value === "number" ? Number(value.toPrecision(6)) : value;
}

export function median(values: readonly number[]): number | null {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  return sorted.length === 0 ? null : (sorted[Math.floor(sorted.length / 2)] as number);
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const lossLike = /loss|nll|ppl|perplexity|acc|reward/i;

/** Metrics that a training is judged by come first, those of the machine last. */
export function byInterest<M extends { readonly key: string; readonly source?: string }>(metrics: readonly M[]): M[] {
  const rank = ({ key, source }: M) => (source === "system" ? 2 : lossLike.test(key) ? 0 : 1);
  return metrics.toSorted((a, b) => rank(a) - rank(b));
}
