// What ARCHITECTURE.md says of the code and can be checked is checked here.

import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { listFiles, readText, root } from "./files.ts";

const page = readText("ARCHITECTURE.md");
const program = listFiles("src").filter((path) => path.endsWith(".ts") && !/\.(test|testing)\.ts$/.test(path));
/** What is code: comments go, and so does what stands in plain quotes. */
const toCode = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "").replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""');

it("names only folders and files that are there", () => {
  const rooms =
    "api|archive|base|bus|cli|config|control|emit|intake|journal|live|model|protocol|query|server|store|wire";
  const inRooms = page.matchAll(new RegExp(`\`((?:${rooms})/[\\w./-]+)\``, "g"));
  const named = Array.from(inRooms, ([, path]) => `src/${path}`);
  const fromRoot = Array.from(
    page.matchAll(/(?:`|\()((?:src|web|docs|tests)\/[\w./-]+)(?:`|\))/g),
    ([, path]) => path ?? "",
  );
  expect(named.length).toBeGreaterThan(5);
  expect(fromRoot.length).toBeGreaterThan(3);
  const isThere = (path: string) => existsSync(root + path) || existsSync(`${root}${path}.ts`);
  expect([...named, ...fromRoot].filter((path) => !isThere(path))).toEqual([]);
});

const sources = [...program, ...listFiles("web/src").filter((path) => /\.tsx?$/.test(path))].map(readText);

it("names only functions that are there", () => {
  const named = new Set(Array.from(page.matchAll(/`([a-z]+[A-Z]\w+)(?:\(\))?`/g), ([, name]) => name ?? ""));
  const code = sources.join("\n");
  expect([...named].filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

/** Of a request. */
const headers = new Set(["Host", "Origin"]);

it("names only classes that are there, with methods that they have", () => {
  const named = Array.from(page.matchAll(/`([A-Z][a-z]\w+)(?:\.([a-z]\w+))?`/g), ([, name, method]) => ({
    name,
    method,
  }));
  expect(named.length).toBeGreaterThan(30);
  const isThere = ({ name, method }: (typeof named)[number]) =>
    headers.has(`${name}`) ||
    sources.some(
      (code) =>
        new RegExp(`\\b(class|interface|type|function) ${name}\\b`).test(code) &&
        (method === undefined || new RegExp(`^  (private |async )*${method}[(<]`, "m").test(code)),
    );
  expect(named.filter((one) => !isThere(one))).toEqual([]);
});

it("counts the room changes of each walk as its table has them, at most six", () => {
  const [, into = "", out = ""] = page.split("| from → to |");
  const count = (table: string, walk: number): number =>
    Array.from(table.matchAll(/^\| (?:\w+ )?→ \w+ \| (.*) \|$/gm), ([, cells = ""]) => cells.split(" | ")[walk]).filter(
      (cell) => cell !== "–",
    ).length;
  const [, span, point] =
    /\*\*In: (\d) room changes for a Cirron span, (\d) for an XTrack point\.\*\*/.exec(page) ?? [];
  const [, each] = /\*\*Out: (\d) room changes each\*\*/.exec(page) ?? [];
  const counted = [count(into, 0), count(into, 1), count(out, 0), count(out, 1)];
  expect(counted).toEqual([span, point, each, each].map(Number));
  expect(Math.max(...counted)).toBeLessThanOrEqual(6);
});

it("has SQL in the store alone", () => {
  const statement = /\b(SELECT [\w*({$]|INSERT INTO |CREATE (TABLE|VIEW|DATABASE) |ALTER TABLE |DELETE FROM )/;
  const writers = program.filter((path) => statement.test(toCode(readText(path))));
  expect(writers).toContain("src/store/reader/metrics.ts");
  // A command shows people what they could type.
  const examples = new Set(["src/cli/commands/demo.ts", "src/cli/commands/sql.ts"]);
  expect(writers.filter((path) => !path.startsWith("src/store/") && !examples.has(path))).toEqual([]);
});

it("decodes without waiting for anything, and without a socket, a file or a clock", () => {
  const wire = program.filter((path) => path.startsWith("src/wire/"));
  expect(wire.length).toBeGreaterThan(30);
  const impure = /\b(await|async|Promise|setTimeout|Date\.now|performance\.now|nowNs)\b|fetch\(/;
  const sources = /from "(?:node:(?:fs|net|http|https|dns|tls|child_process|timers|worker_threads)|#base\/clock)/;
  expect(wire.filter((path) => impure.test(toCode(readText(path))) || sources.test(readText(path)))).toEqual([]);
});

it("has a glossary of at most forty words, each explained once", () => {
  const words = Array.from(page.slice(page.indexOf("## Glossary")).matchAll(/^\| ([a-z ]+) \|/gm), ([, word]) => word);
  expect(words.length).toBeGreaterThan(20);
  // One is the heading.
  expect(words.length).toBeLessThanOrEqual(41);
  expect(new Set(words).size).toBe(words.length);
});
