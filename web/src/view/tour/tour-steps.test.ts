import { expect, test } from "vitest";
import { toTourSteps } from "./tour-steps.ts";

test("that no training runs is said only once it is known", () => {
  const last = (liveRun: string | null | undefined) => toTourSteps(liveRun).at(-1);
  expect(last(null)?.text).toContain("No training is running");
  expect(last(undefined)?.text).not.toContain("No training is running");
  expect(last(undefined)?.href).toBeNull();
  expect(last("a/b")?.href).toBe("/runs/a%2Fb/control?ask=stop");
});
