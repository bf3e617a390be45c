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

it("fills every field of every answer", () => {
  const rooms = program.filter((path) => !/^src\/(api\/contract|cli|emit)\//.test(path));
  const words = wordsOf(rooms);
  const fields = new Set(
    Object.values(schemas).flatMap((route) => [...fieldsOf((route as { answer?: unknown }).answer)]),
  );
  expect(fields.size).toBeGreaterThan(300);
  expect([...fields].filter((name) => !words.has(name))).toEqual([]);
});
