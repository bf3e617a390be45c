// Which files and folders this process syncs: only these are sure to survive a loss of power.

import fs, { readlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** The paths, in the order of their syncs, from now on until the test is over. */
export function noteSyncs(): string[] {
  const synced: string[] = [];
  const { fsyncSync } = fs;
  const replace = (other: typeof fsyncSync): void => {
    fs.fsyncSync = other;
    syncBuiltinESMExports();
  };
  replace((file) => {
    synced.push(readlinkSync(`/proc/self/fd/${file}`));
    fsyncSync(file);
  });
  onTestFinished(() => replace(fsyncSync));
  return synced;
}
