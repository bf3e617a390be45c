// Reads options without ever throwing: untyped programs pass null, numbers for texts, and objects whose getters throw. What
// cannot be used counts as not given.

import { toReason } from "./say.ts";

/** The fields that have a value; anything but an object has none. */
export function readOptions<T extends object>(given: T | undefined): Partial<T> {
  const options: Partial<T> = {};
  attempt(() => {
    for (const name of Object.keys(given ?? {}) as (keyof T & string)[])
      attempt(() => {
        const value = (given as T)[name];
        if (value !== null && value !== undefined) options[name] = value;
      });
  });
  return options;
}

/** A copy of the object's own fields; an object that cannot be read has none. */
export function copyOf<T extends object>(given: T | undefined): T {
  let copy: Partial<T> = {};
  attempt(() => {
    copy = { ...given };
  });
  return copy as T;
}

/** A text, or the text of a number: ranks are numbers. */
export function toTextOption(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

export function toNumberOption(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function toSignals(value: unknown): readonly NodeJS.Signals[] {
  let signals: readonly NodeJS.Signals[] = ["SIGTERM"];
  attempt(() => {
    if (Array.isArray(value)) signals = value.filter((one): one is NodeJS.Signals => typeof one === "string");
  });
  return signals;
}

/** Runs `work`. Returns null, or the reason of the error that it threw. */
export function attempt(work: () => void): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return readReason(error);
  }
}

export function readReason(error: unknown): string {
  try {
    return toReason(error);
  } catch {
    return "its error cannot be read";
  }
}
