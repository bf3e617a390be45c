import { expect, it } from "vitest";
import { listFiles, readText } from "./files.ts";

const files = listFiles().filter((path) => path !== "package-lock.json" && path !== "tests/house/words.test.ts");

/** Lines that match, as `path:line: text`, so that a failure says where to look. */
function findLines(pattern: RegExp, among: readonly string[]): string[] {
  return among.flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

it("speaks of the project alone: no paths of a machine, no registry, no tools of its authors", () => {
  const foreign =
    /\/work\/|\/root\/|\/home\/\w|registry\.npmjs|\bclaude\b|anthropic|chatgpt|copilot|\bprompt engineer/i;
  expect(findLines(foreign, files)).toEqual([]);
});

it("leaves no notes to finish something later", () => {
  expect(findLines(/\b(TODO|FIXME|XXX|HACK)\b/, files)).toEqual([]);
});

it("names no file after a drawer for everything", () => {
  const drawers = /(^|[/-])(utils?|common|helpers?|manager|service|misc)([/.-]|$)/;
  expect(files.filter((path) => drawers.test(path))).toEqual([]);
});

it("names no class Impl, Manager, Helper or Service", () => {
  const sources = files.filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"));
  expect(findLines(/\b(class|interface|type) \w+(Impl|Manager|Helpers?|Service)\b/, sources)).toEqual([]);
});

it("suppresses a type error or a lint rule only with a reason on the same line", () => {
  const sources = files.filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"));
  expect(findLines(/@ts-(ignore|nocheck)|@ts-expect-error\s*$/, sources)).toEqual([]);
});

it("spreads nothing that data may make long into the arguments of a call", () => {
  const sources = files.filter((path) => /^(src|web\/src)\/.*\.tsx?$/.test(path) && !/\.(test|testing)\./.test(path));
  // An object or list in brackets is spread into itself, not into arguments.
  const spread = /\b(push|unshift|splice|min|max|hypot|fromCharCode|fromCodePoint)\((?:[^(){}[\]]|\([^()]*\))*\.\.\./;
  expect(findLines(spread, sources)).toEqual([]);
});

it("keeps timings out of comments, where nobody would measure them again", () => {
  const program = files.filter((path) => /^(src|web\/src)\/.*\.tsx?$/.test(path) && !/\.(test|testing)\./.test(path));
  const timing =
    /^\s*(\/\/|\/?\*).*\b(about|some|a few|half a|tenth of a|fraction of a|than a) (milli|micro|nano)second/;
  expect(findLines(timing, program)).toEqual([]);
});

it("keeps helpers of tests out of the program", () => {
  const program = files.filter(
    (path) => /^(src|web\/src|scripts|bench)\/.*\.tsx?$/.test(path) && !/\.(test|testing)\.tsx?$/.test(path),
  );
  expect(program.length).toBeGreaterThan(300);
  expect(findLines(/from ".*\.testing\.ts"|from "vitest"/, program)).toEqual([]);
});

it("holds the program and the page to the same length of functions", () => {
  const { overrides } = JSON.parse(readText("biome.json")) as { overrides: Override[] };
  const exempt = overrides.filter(({ linter }) => linter.rules.complexity?.noExcessiveLinesPerFunction === "off");
  expect(exempt.flatMap(({ includes }) => includes)).toEqual(["**/*.test.ts", "tests/**", "bench/**"]);
});

interface Override {
  readonly includes: readonly string[];
  readonly linter: { readonly rules: { readonly complexity?: { readonly noExcessiveLinesPerFunction?: string } } };
}
