// What all tests of a file or a suite share: opened before the first of them and closed after the last one.

import { afterAll, beforeAll } from "vitest";

/** Stands for what `open` gives. */
export function suiteOf<T extends object>(
  open: () => Promise<T>,
  close: (opened: T) => Promise<unknown>,
  timeoutMs?: number,
): T {
  let opened: T | undefined;
  beforeAll(async () => {
    opened = await open();
  }, timeoutMs);
  afterAll(async () => {
    if (opened !== undefined) await close(opened);
  });
  return standFor(() => opened as T);
}

/** An object that is what `it` gives whenever one of its members is read or set. */
export function standFor<T extends object>(it: () => T): T {
  const stand: T = new Proxy({} as T, {
    get(_, name) {
      const member: unknown = Reflect.get(it(), name);
      return typeof member === "function" ? member.bind(it()) : member;
    },
    set(_, name, value, on) {
      if (on === stand) return Reflect.set(it(), name, value);
      // What has it for a prototype has members of its own.
      return Reflect.defineProperty(on, name, { value, writable: true, enumerable: true, configurable: true });
    },
  });
  return stand;
}
