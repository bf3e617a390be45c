import { expect, it } from "vitest";
import { type ClockFacts, noteClock } from "./clock.ts";

const minute = 60_000_000_000n;
const arrived = 1794710936995000000n;

/** A run of ten seconds that arrives a second after it was written by a clock `shift` minutes off. */
function facts(shift: bigint, changes: Partial<ClockFacts> = {}): ClockFacts {
  const second = minute / 60n;
  return {
    first_ts_ns: arrived - second + shift * minute,
    last_ts_ns: arrived + 9n * second + shift * minute,
    first_received_ns: arrived,
    last_received_ns: arrived + 10n * second,
    most_ahead_ns: shift * minute - second,
    imported: false,
    ...changes,
  };
}

it("says when times are ahead of their arrival, in whole quarter hours (S3)", () => {
  expect(noteClock(facts(540n))).toMatchObject({ kind: "ahead", message: expect.stringContaining("UTC+9:00") });
  expect(noteClock(facts(345n))?.message).toContain("UTC+5:45");
  const imported = noteClock(facts(100n, { imported: true }));
  expect(imported).toMatchObject({
    kind: "ahead",
    message: expect.stringContaining("1:40 h or more"),
  });
});

it("says when times lag behind their arrival by a steady whole quarter hour (S3)", () => {
  expect(noteClock(facts(-480n))).toMatchObject({ kind: "behind", message: expect.stringContaining("UTC−8:00") });
});

it("says nothing of ordinary clocks, of late imports, or of times that are none", () => {
  expect(noteClock(facts(0n))).toBeNull();
  expect(noteClock(facts(1n))).toBeNull();
  expect(noteClock(facts(-7n))).toBeNull();
  expect(noteClock(facts(-480n, { imported: true }))).toBeNull();
  expect(noteClock(facts(-6000n))).toBeNull();
  expect(noteClock(facts(-480n, { last_received_ns: arrived + 90n * minute }))).toBeNull();
  expect(noteClock(facts(0n, { last_ts_ns: 0n }))).toBeNull();
});
