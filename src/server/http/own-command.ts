// How to type the command line of this installation, for lines that a person copies. A checkout has `bin/tributary`, a
// project has it among its own packages, a global package puts `tributary` into the path, and an image is run.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const modules = "/node_modules/";
const image = 'docker run --rm --network host -v "$PWD":/work -w /work tributary';

export function readOwnCommand(): string {
  if (import.meta.url.endsWith(".ts")) {
    return toWord(fileURLToPath(new URL("../../../bin/tributary", import.meta.url)));
  }
  const local = findLocalCommand(import.meta.url);
  if (local !== null) return local;
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv") ? image : "tributary";
}

/** The command of a package in a project's folder, which is in nobody's path; null for a global package. */
export function findLocalCommand(programUrl: string): string | null {
  const program = fileURLToPath(programUrl);
  const at = program.lastIndexOf(modules);
  const path = `${program.slice(0, at)}${modules}.bin/tributary`;
  return at >= 0 && existsSync(path) ? toWord(path) : null;
}

function toWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
