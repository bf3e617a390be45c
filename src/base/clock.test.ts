import { afterEach, expect, it, test, vi } from "vitest";
import { nowNs, type SenderNs, type ServerNs } from "./clock.ts";

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

it("keeps the times of senders and its own apart when types are checked", () => {
  const sent: SenderNs = 5n;
  // @ts-expect-error The sender's clock is not ours.
  const received: ServerNs = sent;
  // @ts-expect-error Nor is ours the sender's.
  const stamped: SenderNs = nowNs();
  expect([received, stamped > sent]).toEqual([5n, true]);
});
