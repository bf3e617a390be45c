// Each protocol's page says of every statement of its document, and of every observation of real clients, how it is met.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readText } from "./files.ts";

const pages = [
  { protocol: "cirron", statements: "CT", notes: { C: 34, G: 5, J: 6, N: 5 } },
  { protocol: "semantiva", statements: "ST", notes: { S: 18 } },
  { protocol: "xtrack", statements: "XT", notes: { X: 19, J: 6 } },
  { protocol: "otlp", statements: "OT", notes: {} },
];

/** A path as the page writes it: from the root, or a bare name in the folder of the path before it. */
function pathsIn(cell: string): string[] {
  const paths: string[] = [];
  for (const [, name = ""] of cell.matchAll(/`([\w./-]+)`/g)) {
    paths.push(name.includes("/") ? name : join(paths.at(-1) ?? "", "..", name));
  }
  return paths;
}

/** Empty for words that are no file of this checkout, whatever lies beside it. */
function readAll(path: string): string {
  return !path.startsWith("..") && statSync(path, { throwIfNoEntry: false })?.isFile() ? readText(path) : "";
}

describe.each(pages)("the page about $protocol", ({ protocol, statements, notes }) => {
  const page = readText(`docs/protocols/${protocol}.md`);
  const rows = new Set(Array.from(page.matchAll(/^\| ([A-Z]{1,2}-?\d+) \|/gm), (match) => match[1]));

  it("says of every statement of the document how it is met", () => {
    const listed = Array.from(
      readText("tests/conformance.md").matchAll(new RegExp(`^\\| (${statements}-\\d\\d) \\|`, "gm")),
      (match) => match[1],
    );
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((id) => !rows.has(id))).toEqual([]);
  });

  it("says of every observation of real clients how it is met", () => {
    const ids = Object.entries(notes).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
    );
    expect(ids.filter((id) => !rows.has(id))).toEqual([]);
  });

  it("names only tests and sources that exist", () => {
    const paths = Array.from(
      page.matchAll(/`((?:src|tests|bench|docs)\/[\w./-]+\.(?:ts|md))`/g),
      (match) => match[1] ?? "",
    );
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it("names for every statement a test that carries its id", () => {
    const statement = new RegExp(`^\\| (${statements}-\\d\\d) \\|(.*)\\|$`, "gm");
    const missing = Array.from(page.matchAll(statement)).filter(
      ([, id = "", cells = ""]) => !pathsIn(cells).some((path) => path.endsWith("/") || readAll(path).includes(id)),
    );
    expect(missing.map(([, id]) => id)).toEqual([]);
  });
});
