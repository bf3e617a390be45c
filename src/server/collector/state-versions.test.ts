import { expect, test } from "vitest";
import type { StateChange } from "#model/state-tables.ts";
import { StateVersions } from "./state-versions.ts";

const change = (version: bigint): StateChange => ({
  table: "settings",
  row: { workspace: "default", name: "n", value: "v", author: "a", version },
});

test("a change keeps its own time while the clock goes forward", () => {
  const versions = new StateVersions();
  versions.note(100n);
  expect(versions.toLater([change(101n), change(105n)]).map(({ row }) => row.version)).toEqual([101n, 105n]);
  expect(versions.later(200n)).toBe(200n);
});

test("a change that is made after the clock was set back comes after all others, in its own order", () => {
  const versions = new StateVersions();
  versions.note(100n);
  expect(versions.toLater([change(52n), change(50n)]).map(({ row }) => row.version)).toEqual([103n, 101n]);
  expect(versions.later(60n)).toBe(101n);
  expect(versions.later(60n)).toBe(102n);
});
