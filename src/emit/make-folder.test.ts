import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder as makeRoot } from "../../tests/support/folder.ts";
import { makeFolder } from "./make-folder.ts";

it("makes a folder with its parents, and leaves one that is there", () => {
  const path = join(makeRoot(), "a", "b", "c");
  makeFolder(path);
  makeFolder(path);
  expect(existsSync(path)).toBe(true);
});

it("throws when a file is in the way", () => {
  const root = makeRoot();
  writeFileSync(join(root, "a"), "");
  expect(() => makeFolder(join(root, "a"))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(root, "a", "b"))).toThrow(/ENOTDIR/);
});

it.runIf(process.platform === "linux")("returns from a file system that has no folders to make", () => {
  expect(() => makeFolder("/proc/none/such/folder")).toThrow(/ENOENT/);
});
