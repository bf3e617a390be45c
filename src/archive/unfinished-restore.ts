// Whether a folder has only half of a backup, since whoever restored it was stopped.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where an archive is unpacked, in the folder that it is restored into; the last to go. */
export const unpackedName = ".restoring";

export function isHalfRestored(dataDir: string): boolean {
  return existsSync(join(dataDir, unpackedName));
}
