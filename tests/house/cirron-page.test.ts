import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { readText } from "./files.ts";

const page = readText("docs/protocols/cirron.md");
const rows = new Set(Array.from(page.matchAll(/^\| ([A-Z]{1,2}-?\d+) \|/gm), (match) => match[1]));

it("says of every statement of the document how it is met", () => {
  const listed = Array.from(readText("tests/conformance.md").matchAll(/^\| (CT-\d\d) \|/gm), (match) => match[1]);
  expect(listed.filter((id) => !rows.has(id))).toEqual([]);
});

it("says of every observation of real clients how it is met", () => {
  const notes = [
    ...Array.from({ length: 34 }, (_, at) => `C${at + 1}`),
    ...Array.from({ length: 5 }, (_, at) => `G${at + 1}`),
    ...Array.from({ length: 6 }, (_, at) => `J${at + 1}`),
  ];
  expect(notes.filter((id) => !rows.has(id))).toEqual([]);
});

it("names only tests and sources that exist", () => {
  const paths = Array.from(
    page.matchAll(/`((?:src|tests|bench|docs)\/[\w./-]+\.(?:ts|md))`/g),
    (match) => match[1] ?? "",
  );
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
