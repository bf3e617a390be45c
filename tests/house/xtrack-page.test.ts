import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { readText } from "./files.ts";

const page = readText("docs/protocols/xtrack.md");
const rows = new Set(Array.from(page.matchAll(/^\| ([A-Z]{1,2}-?\d+) \|/gm), (match) => match[1]));

it("says of every statement of the document how it is met", () => {
  const listed = Array.from(readText("tests/conformance.md").matchAll(/^\| (XT-\d\d) \|/gm), (match) => match[1]);
  expect(listed).toHaveLength(26);
  expect(listed.filter((id) => !rows.has(id))).toEqual([]);
});

it("says of every observation of real clients how it is met", () => {
  const notes = [
    ...Array.from({ length: 19 }, (_, at) => `X${at + 1}`),
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

it("names for every statement a test that carries its id", () => {
  const missing = Array.from(page.matchAll(/^\| (XT-\d\d) \|.*\| (.*) \|$/gm)).filter(([, id, tests]) => {
    const paths = Array.from((tests ?? "").matchAll(/`([^`]+)`/g), (match) => match[1] ?? "");
    return !paths.some((path) => existsSync(path) && readText(path).includes(id ?? ""));
  });
  expect(missing.map(([, id]) => id)).toEqual([]);
});
