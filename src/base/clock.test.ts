import { afterEach, expect, test, vi } from "vitest";
import { nowNs } from "./clock.ts";

afterEach(() => vi.restoreAllMocks());

test.each([8 * 3600_000, -3600_000])(
  "follows a wall clock that was set by %i ms, as a machine's that has slept is",
  (byMs) => {
    const real = Date.now;
    expect(Math.abs(Number(nowNs() / 1_000_000n) - real())).toBeLessThan(1000);
    vi.spyOn(Date, "now").mockImplementation(() => real() + byMs);
    expect(Math.abs(Number(nowNs() / 1_000_000n) - (real() + byMs))).toBeLessThan(1000);
  },
);
