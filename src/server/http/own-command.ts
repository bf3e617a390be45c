// How the command line of this very installation is typed, for lines that a person copies: a checkout has its own
// `bin`, a package puts `tributary` into the path, and an image is run.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const image = 'docker run --rm --network host -v "$PWD":/work -w /work tributary';

export function readOwnCommand(): string {
  if (import.meta.url.endsWith(".ts")) {
    const path = fileURLToPath(new URL("../../../bin/tributary", import.meta.url));
    return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  }
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv") ? image : "tributary";
}
