import { expect, it } from "vitest";
import { listFiles, readText } from "./files.ts";

const listed = new Set(Array.from(readText("tests/conformance.md").matchAll(/^\| ([A-Z]{2}-\d\d) \|/gm), (m) => m[1]));

/** Every id that stands in brackets at the end of a test's name, with the files it stands in. */
function findTestedIds(): Map<string, string> {
  const tested = new Map<string, string>();
  for (const path of listFiles().filter((file) => /\.test\.tsx?$/.test(file))) {
    for (const [, ids] of readText(path).matchAll(/\[((?:[A-Z]{2}-\d\d(?:, ?)?)+)\]/g)) {
      for (const id of (ids ?? "").split(/, ?/)) tested.set(id, path);
    }
  }
  return tested;
}

it("has the documents' statements to go by", () => {
  expect(listed.size).toBe(39 + 18 + 26 + 33);
});

it("invents no conformance id", () => {
  expect([...findTestedIds()].filter(([id]) => !listed.has(id))).toEqual([]);
});

it("tests every statement of the documents", () => {
  const tested = findTestedIds();
  expect([...listed].filter((id) => id && !tested.has(id))).toEqual([]);
});
