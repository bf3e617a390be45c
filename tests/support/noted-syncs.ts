// Which files and folders this process syncs: only these are sure to survive a loss of power.

import fs, { readlinkSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** The paths, in the order of their syncs, from now on until the test is over. */
export function noteSyncs(): string[] {
  const synced: string[] = [];
  const { fsync, fsyncSync } = fs;
  const note = (file: number): unknown => synced.push(readlinkSync(`/proc/self/fd/${file}`));
  const replace = (one: Pick<typeof fs, "fsync" | "fsyncSync">): void => {
    Object.assign(fs, one);
    syncBuiltinESMExports();
  };
  const noting = (file: number, done: fs.NoParamCallback): void => {
    note(file);
    fsync(file, done);
  };
  replace({
    fsync: Object.assign(noting, { __promisify__: fsync.__promisify__ }),
    fsyncSync(file) {
      note(file);
      fsyncSync(file);
    },
  });
  onTestFinished(() => replace({ fsync, fsyncSync }));
  return synced;
}
