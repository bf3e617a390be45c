import { describe, expect, it } from "vitest";
import { parseRfc3339Ns } from "./rfc3339.ts";

describe("parseRfc3339Ns", () => {
  it("reads milliseconds in UTC", () => {
    expect(parseRfc3339Ns("2026-11-15T02:48:56.995Z")).toBe(1794710936995000000n);
  });

  it("keeps nanoseconds and cuts what is finer", () => {
    expect(parseRfc3339Ns("1970-01-01T00:00:00.123456789Z")).toBe(123456789n);
    expect(parseRfc3339Ns("1970-01-01T00:00:00.1234567899Z")).toBe(123456789n);
  });

  it("applies offsets in both directions", () => {
    const utc = parseRfc3339Ns("2026-11-15T02:00:00Z");
    expect(parseRfc3339Ns("2026-11-15T11:00:00+09:00")).toBe(utc);
    expect(parseRfc3339Ns("2026-11-14T22:30:00-03:30")).toBe(utc);
  });

  it("reads times of one minute alike, whichever came first", () => {
    const first = "2026-11-15T02:48:00.000Z";
    const seconds = ["00.001Z", "59.999Z", "60.000Z", "61.000Z", "5x.000Z", "56.99zZ", "56.995z", "56,995Z", "-1.000Z"];
    for (const rest of seconds) {
      const text = `2026-11-15T02:48:${rest}`;
      parseRfc3339Ns("1969-12-31T23:59:59Z");
      const alone = parseRfc3339Ns(text);
      parseRfc3339Ns(first);
      expect(parseRfc3339Ns(text), text).toBe(alone);
    }
    expect(parseRfc3339Ns("2026-11-15T02:49:56.995Z")).toBe(1794710996995000000n);
  });

  it("reads times before the epoch", () => {
    expect(parseRfc3339Ns("1969-12-31T23:59:59.999Z")).toBe(-1000000n);
  });

  it.each([
    "",
    "yesterday",
    "2026-11-15",
    "2026-11-15T02:48:56",
    "2026-13-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:61:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T00:00:00+24:00",
    "0050-01-01T00:00:00Z",
    "2026-11-15T02:48:56.Z",
  ])("gives nothing for %j", (text) => {
    expect(parseRfc3339Ns(text)).toBeUndefined();
  });
});
