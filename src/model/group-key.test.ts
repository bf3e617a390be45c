import fc from "fast-check";
import { expect, it } from "vitest";
import {
  formatGroupKey,
  formatLaunchKey,
  type GroupKey,
  groupKinds,
  inWorkspace,
  parseGroupKey,
  withoutWorkspace,
} from "./group-key.ts";
import type { GroupName, RunId, Workspace } from "./names.ts";

it("writes keys as they are stored", () => {
  expect(formatGroupKey("default", groupKinds.xtrackRun, "sweep/7")).toBe("default/x/sweep/7");
  expect(formatLaunchKey("default", "a", 2)).toBe("default/l/a/2");
});

it("takes a key apart into what it was made of, whatever the own id has in it", () => {
  const workspace = fc.string({ minLength: 1 }).filter((text) => !text.includes("/"));
  const ownId = fc.oneof(fc.string(), fc.constantFrom("/x/", "a/s/b", "/", "c/c/c"));
  fc.assert(
    fc.property(workspace, fc.constantFrom(...Object.values(groupKinds)), ownId, (workspace, kind, ownId) => {
      const key = formatGroupKey(workspace, kind, ownId);
      expect(parseGroupKey(key)).toEqual({ workspace, kind, ownId });
      expect(inWorkspace(workspace, withoutWorkspace(key))).toBe(key);
    }),
  );
});

it("makes no key of a workspace with a slash, which would be another workspace's key", () => {
  expect(() => formatGroupKey("lab/x", groupKinds.xtrackRun, "r")).toThrow("has no slash");
});

it("has a letter of its own for every kind", () => {
  const letters = Object.values(groupKinds);
  expect(new Set(letters).size).toBe(letters.length);
  for (const letter of letters) expect(letter).toMatch(/^[a-z]$/);
});

it("keeps the names of groups, runs, workspaces and workers apart when types are checked", () => {
  const run: RunId = "sweep/7";
  // @ts-expect-error A run is not a group: rows of several groups belong to it.
  const group: GroupName = run;
  // @ts-expect-error Nor is a workspace a run.
  const other: RunId = "default" as Workspace;
  // @ts-expect-error A key is built, not written down.
  const built: GroupKey = "default/x/sweep/7";
  expect([group, other, built]).toEqual(["sweep/7", "default", "default/x/sweep/7"]);
});
