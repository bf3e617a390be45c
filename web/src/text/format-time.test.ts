import { expect, test } from "vitest";
import { formatAgo, formatDuration, formatElapsed, fromOffsetNs, toMs, toOffsetNs } from "./format-time.ts";

test("keeps nanoseconds exact beyond 2^53", () => {
  const base = "1794710577346193001";
  expect(toOffsetNs("1794710577346193084", base)).toBe(83);
  expect(fromOffsetNs(83, base)).toBe("1794710577346193084");
  expect(toMs("1794710577346193084")).toBe(1794710577346.193);
});

test("writes durations in the unit that fits", () => {
  expect([90, 12_400, 830e6, 999.9e6, 14.2e9, 99.97e9, 754e9, 4320e9, 3e14, -5e6].map(formatDuration)).toEqual([
    "90 ns",
    "12.4 µs",
    "830 ms",
    "1.00 s",
    "14.2 s",
    "1 m 40 s",
    "12 m 34 s",
    "1 h 12 m",
    "3.47 d",
    "−5.00 ms",
  ]);
});

test("says how long ago in words", () => {
  const now = 1_000_000_000_000;
  expect(
    [now - 1000, now - 42_000, now - 7_200_000, now - 300_000_000, now + 90_000].map((at) => formatAgo(at, now)),
  ).toEqual(["now", "42 s ago", "2 h ago", "3 d ago", "in 2 min"]);
});

test("writes the time since start as finely as asked", () => {
  expect(formatElapsed(14.25e9, 1e8)).toBe("0:14.3");
  expect(formatElapsed(3723e9, 1e9)).toBe("1:02:03");
  expect(formatElapsed(1_500_000, 1e5)).toBe("0:00.0015");
  expect(formatElapsed(5999.99e9, 1e9)).toBe("1:40:00");
  expect(formatElapsed(59.96e9, 1e8)).toBe("1:00.0");
});
