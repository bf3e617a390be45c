// The project's own files, as the house rules see them.

import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export const root = new URL("../../", import.meta.url).pathname;

const skipped = new Set(["node_modules", "dist", ".git", ".tributary", "coverage"]);
// Recorded data and generated files are not ours to word.
const recorded = new Set(["examples/data", "tests/fixtures", "bench/results"]);
const textKinds = new Set([".ts", ".tsx", ".md", ".json", ".css", ".html", ".toml", ".yaml", ".yml", ".tpl", ".js"]);

/** Paths of all text files, relative to the root, in a stable order. */
export function listFiles(folder = ""): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !skipped.has(entry.name))
    .flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return recorded.has(path) ? [] : listFiles(path);
      return textKinds.has(extname(entry.name)) || folder === ".ci" ? [path] : [];
    })
    .sort();
}

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
