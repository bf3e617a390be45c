// Choices a person makes once, kept in this browser. Every component that reads one follows its changes.

import { useCallback, useSyncExternalStore } from "react";
import { createListeners } from "../part/listeners.ts";

const { subscribe, tell } = createListeners();
const prefix = "tributary.";

function read(name: string): string | null {
  try {
    return localStorage.getItem(prefix + name);
  } catch {
    // Storage may be forbidden; the page then forgets, which harms nothing.
    return null;
  }
}

export function setPreference(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    return;
  }
  tell();
}

export function usePreference<T extends string>(
  name: string,
  fallback: T,
  allowed?: readonly T[],
): [T, (value: T) => void] {
  const stored = useSyncExternalStore(subscribe, () => read(name)) as T | null;
  const value = stored !== null && (allowed === undefined || allowed.includes(stored)) ? stored : fallback;
  return [value, useCallback((next: T) => setPreference(name, next), [name])];
}
