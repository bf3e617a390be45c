// Temporary files that a killed process left behind: tables of a backup, bodies on their way to a bucket. Either may be
// gigabytes, and nobody asks for it again.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const ours = /^(backup|blob)-/;

/** Call it from the only process in the folder, before that creates files of its own. */
export async function removeLeftFiles(dataDir: string): Promise<void> {
  const tmp = join(dataDir, "tmp");
  const left = (await readdir(tmp).catch(() => [])).filter((name) => ours.test(name));
  // A file that cannot be removed only takes up space.
  await Promise.all(left.map((name) => rm(join(tmp, name), { recursive: true, force: true }).catch(() => undefined)));
}
