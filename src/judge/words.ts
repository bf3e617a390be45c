// Numbers for use in a sentence.

import type { RunMoment } from "./finding.ts";

export function sayShare(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Four digits are enough to recognise a value. */
export function sayNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const text = String(Number(value.toPrecision(4)));
  return text.length > 9 ? Number(value.toPrecision(4)).toExponential() : text;
}

const units = [
  ["h", 3600e9],
  ["min", 60e9],
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
] as const;

export function sayTime(ns: number): string {
  const [unit, size] = units.find(([, each]) => Math.abs(ns) >= each) ?? ["ns", 1];
  const value = ns / size;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}

/** `step 812`, or the time of day where there are no steps. */
export function sayMoment({ step, tsNs }: RunMoment): string {
  if (step !== null) return `step ${step}`;
  return `${new Date(Number(tsNs / 1_000_000n)).toISOString().slice(11, 19)} UTC`;
}

export function sayMetric({ key, phase }: { readonly key: string; readonly phase: string }): string {
  return phase === "" || key.startsWith(`${phase}/`) ? key : `${key} (${phase})`;
}

export function sayCount(count: number, one: string): string {
  return count === 1 ? `one ${one}` : `${count.toLocaleString("en")} ${one}s`;
}

export function sayWorker(worker: string): string {
  if (worker === "") return "the worker without a name";
  return /^\d+$/.test(worker) ? `rank ${worker}` : `worker ${worker}`;
}

/** As a sentence begins. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
