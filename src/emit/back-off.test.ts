import { expect, it } from "vitest";
import { parseRetryAfterMs, toBackOffMs } from "./back-off.ts";

it("doubles from try to try, with a random part on top, up to a minute [CT-30]", () => {
  const waits = Array.from({ length: 8 }, (_, attempt) => toBackOffMs(attempt, 1000, () => 0.5));
  expect(waits).toEqual([1500, 2500, 4500, 8500, 16_500, 32_500, 60_000, 60_000]);
  expect(toBackOffMs(1000)).toBe(60_000);
  expect(new Set(Array.from({ length: 20 }, () => toBackOffMs(0))).size).toBeGreaterThan(1);
});

it("believes seconds, fractions and dates, and nothing else [CT-30]", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(parseRetryAfterMs("3", now)).toBe(3000);
  expect(parseRetryAfterMs("0.25", now)).toBe(250);
  expect(parseRetryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", now)).toBe(5000);
  expect(parseRetryAfterMs("Thu, 01 Jan 2025 00:00:05 GMT", now)).toBe(0);
  expect(parseRetryAfterMs("-4", now)).toBe(0);
  expect(parseRetryAfterMs("9999", now)).toBe(60_000);
  expect(parseRetryAfterMs("soon", now)).toBeUndefined();
  expect(parseRetryAfterMs("", now)).toBeUndefined();
  expect(parseRetryAfterMs(undefined, now)).toBeUndefined();
});
