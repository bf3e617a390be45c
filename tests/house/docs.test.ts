import { existsSync } from "node:fs";
import { posix } from "node:path";
import { expect, it } from "vitest";
import { tools } from "#agent/tools.ts";
import { findingCodes } from "#judge/finding.ts";
import { builtInKinds, ruleKindNames } from "#judge/rule.ts";
import { runStatuses } from "#query/runs/head.ts";
import { findStalePages } from "../../scripts/write-docs.ts";
import { listFiles, readText, root } from "./files.ts";

/** The names in the first column of a page's tables. */
function readFirstColumn(path: string): string[] {
  return Array.from(readText(path).matchAll(/^\| `([^`]+)` \|/gm), (match) => match[1] ?? "");
}

it("keeps the generated pages equal to the code", () => {
  expect(findStalePages()).toEqual([]);
});

it("lists the verdicts, rules, statuses and tools that there are", () => {
  expect(readFirstColumn("docs/verdicts.md")).toEqual([...findingCodes]);
  const page = readText("docs/rules.md");
  const kinds = Array.from(page.matchAll(/^\| `(\w+)` \|[^|]+\|[^|]*\| (yes)? ?\|$/gm), ([, kind, builtIn]) => ({
    kind,
    builtIn: builtIn === "yes",
  }));
  expect(kinds.map(({ kind }) => kind).sort()).toEqual([...ruleKindNames].sort());
  expect(kinds.flatMap(({ kind, builtIn }) => (builtIn ? [kind] : [])).sort()).toEqual([...builtInKinds].sort());
  expect(readFirstColumn("docs/runs.md")).toEqual([...runStatuses]);
  const named = readText("docs/agents.md").matchAll(/^\| ((?:`\w+`(?:, )?)+) \| (?:read|control|admin) \|/gm);
  const listed = Array.from(named, ([, cell = ""]) => cell.replaceAll("`", "").split(", ")).flat();
  expect(listed.sort()).toEqual(tools.map(({ name }) => name).sort());
});

/** The name that a heading has in an address, as GitHub makes it. */
function toAnchor(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "")
    .replaceAll(" ", "-");
}

function readAnchors(path: string): string[] {
  return Array.from(readText(path).matchAll(/^#+ (.*)$/gm), ([, heading = ""]) => toAnchor(heading));
}

it("links only to files and headings that are there", () => {
  const pages = listFiles().filter((path) => path.endsWith(".md") && !path.startsWith("tests/fixtures/"));
  const links = pages.flatMap((page) =>
    Array.from(readText(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g), ([, file = "", anchor]) => ({
      page,
      target: file === "" ? page : posix.join(posix.dirname(page), file),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(100);
  const isThere = ({ target, anchor }: (typeof links)[number]) =>
    existsSync(root + target) && (anchor === undefined || readAnchors(target).includes(anchor));
  expect(links.filter((link) => !isThere(link))).toEqual([]);
});

it("gives a reason for every dependency, and for none that is gone", () => {
  const manifest = JSON.parse(readText("package.json")) as Record<string, Record<string, string>>;
  const installed = [...Object.keys(manifest["dependencies"] ?? {}), ...Object.keys(manifest["devDependencies"] ?? {})];
  expect(readFirstColumn("docs/dependencies.md").sort()).toEqual(installed.sort());
});

it("pins every dependency to one version", () => {
  const manifest = JSON.parse(readText("package.json")) as Record<string, Record<string, string>>;
  const ranges = Object.entries({ ...manifest["dependencies"], ...manifest["devDependencies"] });
  expect(ranges.filter(([, range]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))).toEqual([]);
});

it("shows contributors commands that there are, and tests that run", () => {
  const page = readText("CONTRIBUTING.md");
  const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
  const named = Array.from(page.matchAll(/^npm run (\S+)/gm), ([, name]) => name ?? "");
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const words = Array.from(page.matchAll(/^npm test -- (\S+) -t "([^"]+)"/gm), ([, file, word]) => [file, word]);
  expect(words.length).toBeGreaterThan(0);
  for (const [file = "", word = ""] of words) expect(readText(file)).toMatch(new RegExp(`(it|test)\\(".*${word}`));
});
