// What a process that was killed left in the folder for files under way: tables of a backup, bodies on their way to a bucket.
// Either may have gigabytes, and nobody asks for it again.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const ours = /^(backup|blob)-/;

/** To be called by the only process in the folder, before it has any of its own. */
export async function removeLeftFiles(dataDir: string): Promise<void> {
  const tmp = join(dataDir, "tmp");
  const left = (await readdir(tmp).catch(() => [])).filter((name) => ours.test(name));
  // One that cannot be removed only takes room.
  await Promise.all(left.map((name) => rm(join(tmp, name), { recursive: true, force: true }).catch(() => undefined)));
}
