import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "./make-folder.ts";

function makeRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "tributary-folder-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

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
