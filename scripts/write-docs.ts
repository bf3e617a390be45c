// Writes the pages of docs/ that are tables of the code, so that the two never differ.
//
//   npm run docs          writes them
//   npm run check:docs    exits 1 when one differs

import { readFileSync, writeFileSync } from "node:fs";
import { toApiPage } from "./docs/api.ts";
import { toCliPage } from "./docs/cli.ts";
import { toConfigurationPage } from "./docs/configuration.ts";
import { toErrorsPage } from "./docs/errors.ts";

export const pages: Readonly<Record<string, () => string>> = {
  "docs/api.md": toApiPage,
  "docs/cli.md": toCliPage,
  "docs/configuration.md": toConfigurationPage,
  "docs/errors.md": toErrorsPage,
};

/** The pages whose text on disk is not what the code says. */
export function findStalePages(): string[] {
  return Object.keys(pages).filter((path) => readPage(path) !== pages[path]?.());
}

function toUrl(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

function readPage(path: string): string | undefined {
  try {
    return readFileSync(toUrl(path), "utf8");
  } catch {
    return undefined;
  }
}

function main(): void {
  const stale = findStalePages();
  if (process.argv.includes("--check")) {
    for (const path of stale) console.error(`${path} is not what the code says. Run: npm run docs`);
    process.exitCode = stale.length === 0 ? 0 : 1;
    return;
  }
  for (const path of stale) {
    writeFileSync(toUrl(path), pages[path]?.() ?? "");
    console.log(`wrote ${path}`);
  }
}

if (import.meta.main) main();
