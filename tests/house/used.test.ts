// What is promised is kept somewhere: a setting that nobody reads, or a field of an answer that nobody fills, is a lie.

import { expect, it } from "vitest";
import { schemas } from "#api/contract/routes.ts";
import { settings } from "#config/settings.ts";
import { listFiles, readText } from "./files.ts";

const program = listFiles("src").filter((path) => path.endsWith(".ts") && !/\.(test|testing)\.ts$/.test(path));

/** Every word of the code in these files; words in comments do not count. */
function wordsOf(paths: readonly string[]): ReadonlySet<string> {
  const code = paths
    .map(readText)
    .join("\n")
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
  return new Set(code.match(/[\w$]+/g));
}

it("reads every setting outside the room that parses them", () => {
  const words = wordsOf(program.filter((path) => !path.startsWith("src/config/")));
  const names = Object.keys(settings);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !words.has(name))).toEqual([]);
});

type Schema = Readonly<Record<string, unknown>>;

function* fieldsOf(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  const { properties, ...rest } = schema as Schema;
  for (const [name, inner] of Object.entries((properties ?? {}) as Schema)) {
    yield name;
    yield* fieldsOf(inner);
  }
  for (const inner of Object.values(rest)) yield* fieldsOf(inner);
}

type Part = "params" | "query" | "body" | "answer";

function namesIn(...parts: readonly Part[]): string[] {
  const routes = Object.values(schemas) as readonly Partial<Record<Part, unknown>>[];
  return [...new Set(routes.flatMap((route) => parts.flatMap((part) => [...fieldsOf(route[part])])))];
}

/** Who answers, and who asks: the page, the command line, the SDK, what imports and exports files, the benchmarks, and
 * tests as anybody's program. */
const answering = wordsOf(program.filter((path) => !/^src\/(api\/contract|cli|emit)\//.test(path)));
const askingFolders = ["web/src", "src/cli", "src/emit", "src/protocol", "src/store/reader/export-records.ts", "bench"];
const asking = wordsOf(
  listFiles().filter((path) =>
    [...askingFolders, "tests"].some(
      (folder) => path.startsWith(folder) && !path.startsWith("tests/house/") && /\.tsx?$/.test(path),
    ),
  ),
);

it("fills every field of every answer", () => {
  const fields = namesIn("answer");
  expect(fields.length).toBeGreaterThan(300);
  expect(fields.filter((name) => !answering.has(name))).toEqual([]);
});

it("has somebody read every field of every answer", () => {
  expect(namesIn("answer").filter((name) => !asking.has(name))).toEqual([]);
});

it("reads every field of every question, and has somebody ask it", () => {
  // The rest of a path has no name of its own in code.
  const fields = namesIn("params", "query", "body").filter((name) => name !== "*");
  expect(fields.length).toBeGreaterThan(50);
  expect(fields.filter((name) => !answering.has(name))).toEqual([]);
  expect(fields.filter((name) => !asking.has(name))).toEqual([]);
});
