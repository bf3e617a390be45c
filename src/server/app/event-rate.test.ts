import { expect, test } from "vitest";
import { EventRate } from "./event-rate.ts";

test("counts whole seconds and forgets what is older than five of them", () => {
  let now = 100;
  const rate = new EventRate(() => now);
  for (let second = 0; second < 10; second++) {
    now = 100 + second;
    rate.add(second < 5 ? 100 : 200);
    rate.add(0);
  }
  expect(rate.perSecond()).toBe((100 + 200 * 4) / 5);
  now = 120;
  expect(rate.perSecond()).toBe(0);
});
