// The command line of a benchmark, and the page that it writes.

import { writeFile } from "node:fs/promises";

const words = process.argv.slice(2);

export function isAsked(name: string): boolean {
  return words.includes(name);
}

/** The word behind an option. */
export function option(name: string): string | undefined {
  return isAsked(name) ? words[words.indexOf(name) + 1] : undefined;
}

/** Numbers that are not the word behind an option; only `--save` has none. */
export const numbers: readonly number[] = words
  .filter((word, at) => /^\d+$/.test(word) && (words[at - 1] === "--save" || !words[at - 1]?.startsWith("--")))
  .map(Number);

/** Words that are neither an option nor behind one. */
export const names: readonly string[] = words.filter(
  (word, at) =>
    !word.startsWith("--") &&
    (at === 0 || ["--save", "--all"].includes(words[at - 1] ?? "") || !words[at - 1]?.startsWith("--")),
);

/** How the benchmark was called. */
export function commandOf(name: string): string {
  return [`node bench/${name}.ts`, ...words.filter((word) => word !== "--save")].join(" ");
}

const profileDir = option("--prof");
/** With `--prof DIR` the server is profiled. */
export const nodeFlags: readonly string[] =
  profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];

/** Prints the page; with `--save` it becomes the committed one. */
export async function savePage(name: string, page: string): Promise<void> {
  console.log(page);
  if (isAsked("--save")) await writeFile(new URL(`../results/${name}.md`, import.meta.url), page);
}
