// Whether a folder has only half of a backup, because restoring it was cut off.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder, inside the data folder, that an archive is unpacked into. It is removed last. */
export const unpackedName = ".restoring";

export function isHalfRestored(dataDir: string): boolean {
  return existsSync(join(dataDir, unpackedName));
}
