import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Waits } from "./waits.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What it says once so much time has gone by. */
async function after(ms: number, answer: Promise<boolean>): Promise<boolean | "not yet"> {
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([answer, Promise.resolve("not yet" as const)]);
}

it("waits once for what takes long and many inputs need, and longer for one that was put off", async () => {
  const waits = new Waits();
  const gone = Promise.withResolvers<void>();
  const find = (): Promise<void> => waits.find(() => gone.promise) as Promise<void>;
  const first = waits.isSoonOver(find(), 0);
  expect(await after(199, first)).toBe("not yet");
  expect(await after(1, first)).toBe(false);
  expect(await after(0, waits.isSoonOver(find(), 0))).toBe(false);
  const returned = waits.isSoonOver(find(), 1);
  expect(await after(399, returned)).toBe("not yet");
  gone.resolve();
  expect(await after(0, returned)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it("finds nothing to wait for, and passes on why something cannot be waited for", async () => {
  const waits = new Waits();
  expect(waits.find(() => null)).toBeNull();
  const failing = waits.find(() => Promise.reject(new Error("gone"))) as Promise<void>;
  await expect(waits.isSoonOver(failing, 0)).rejects.toMatchObject({
    name: "ApplyFailure",
    cause: { message: "gone" },
  });
});
