import { expect, test } from "vitest";
import { chooseOwner } from "./sights.ts";

const runs = Array.from({ length: 300 }, (_, at) => `default\0run-${at}`);

test("everybody names the same collector for a run, in whatever order they know the others", () => {
  for (const run of runs) expect(chooseOwner(["a", "b", "c"], run)).toBe(chooseOwner(["c", "a", "b"], run));
});

test("runs are spread over all, and one that goes leaves only its own to the others", () => {
  const before = runs.map((run) => chooseOwner(["a", "b", "c"], run));
  for (const id of ["a", "b", "c"]) expect(before.filter((owner) => owner === id).length).toBeGreaterThan(60);
  const after = runs.map((run) => chooseOwner(["a", "b"], run));
  for (const [at, owner] of before.entries()) if (owner !== "c") expect(after[at]).toBe(owner);
});
