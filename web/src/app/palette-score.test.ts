import { expect, test } from "vitest";
import { scoreEntry } from "./palette-score.ts";

test("the metric that is called so comes before one that holds the name, and the log not at all", () => {
  const best = ["metric train loss", "metric val val_loss", "this run Logs"].map((entry) => scoreEntry(entry, "loss"));
  expect(best).toEqual([1, 1, 0]);
  expect(scoreEntry("metric train lossy", "loss")).toBeLessThan(1);
});

test("every word must be found, whatever their order and case", () => {
  expect(scoreEntry("run gpt-w256-lr0.003 7dc3e0c9", "W256 run")).toBe(1);
  expect(scoreEntry("run gpt-w256-lr0.003 7dc3e0c9", "gpt-w2")).toBe(0.5);
  expect(scoreEntry("run gpt-w256-lr0.003 7dc3e0c9", "gpt w512")).toBe(0);
});
