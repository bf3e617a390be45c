// Checks the data folder before a server is opened on it, so that a wrong path gets a clear message.

import { accessSync, constants } from "node:fs";
import { isHalfRestored } from "#archive/unfinished-restore.ts";
import { makeFolder } from "#emit/make-folder.ts";
import { Exit, exitCodes } from "./exit.ts";
import { whyNot } from "./sentence.ts";

export function makeDataFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = whyNot((error as NodeJS.ErrnoException).code);
    throw new Exit(
      exitCodes.usage,
      `The data folder ${path} cannot be used: ${reason}.`,
      "Choose another with --data.",
    );
  }
  if (isHalfRestored(path))
    throw new Exit(
      exitCodes.usage,
      `The data folder ${path} has half of a backup: restoring it was cut off.`,
      "Remove what is in it, and restore it again.",
    );
}
