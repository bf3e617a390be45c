import { expect, test } from "vitest";
import { presentRate } from "./present-rate.ts";

const metric = (key: string, last: number, last_ns: string) => ({ key, last, last_ns });

test("the last reported rate counts, then the one the job was started with", () => {
  const metrics = [metric("train/lr", 0.02, "5"), metric("loss", 3, "9"), metric("learning_rate", 0.01, "7")];
  expect(presentRate(metrics, { lr: "0.5" })).toBe(0.01);
  expect(presentRate([metric("loss", 3, "9")], { color: "1", "optimizer.lr": "0.003" })).toBe(0.003);
  expect(presentRate([], { lr: '"auto"' })).toBeNull();
});
