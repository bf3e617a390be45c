import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { readText, root } from "./files.ts";

type Rooms = Map<string, Set<string>>;

/** ARCHITECTURE.md: `| \`room\` | what lives there | what it may import |`. */
function readPage(): Rooms {
  const rows = readText("ARCHITECTURE.md").matchAll(/^\| `([a-z]+)` \|[^|]*\| ([^|]*) \|$/gm);
  return new Map(
    Array.from(rows, ([, room, imports]) => [
      room ?? "",
      new Set(Array.from((imports ?? "").matchAll(/`([a-z/-]+)`/g), (m) => m[1] ?? "")),
    ]),
  );
}

/** biome.json: the groups of each room's `noRestrictedImports`, where `!#x/**` is a room that may be imported. */
function readLinter(): Rooms {
  const { overrides } = JSON.parse(readText("biome.json")) as { overrides: Override[] };
  const rooms: Rooms = new Map();
  for (const { includes, linter } of overrides) {
    const patterns = linter.rules.style?.noRestrictedImports?.options.patterns;
    const room = /^(?:src\/)?([a-z]+)\//.exec(includes[0] ?? "")?.[1];
    if (!patterns || !room) continue;
    const allowed = patterns.flatMap(({ group }) =>
      group.flatMap((glob) => /^!#(.+?)(?:\/\*\*|\.ts)$/.exec(glob)?.[1] ?? []),
    );
    rooms.set(room, new Set(allowed.filter((name) => name !== room)));
  }
  return rooms;
}

interface Override {
  readonly includes: string[];
  readonly linter: {
    readonly rules: {
      readonly style?: { readonly noRestrictedImports?: { readonly options: { patterns: { group: string[] }[] } } };
    };
  };
}

it("states the same room imports in ARCHITECTURE.md and in the linter", () => {
  expect(readPage()).toEqual(readLinter());
});

it("has no room that the table does not know", () => {
  const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = readPage();
  expect(folders.map((entry) => entry.name).filter((name) => !known.has(name))).toEqual([]);
});

it("has main.ts as the only file outside a room", () => {
  const loose = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(loose.map((entry) => entry.name).filter((name) => name !== "main.ts" && name !== "main.test.ts")).toEqual([]);
});
