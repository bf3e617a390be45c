import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../tests/support/folder.ts";
import { nodeFiles, type OpenMode } from "./files.ts";

/** O_DSYNC of Linux, in the octal `flags` of the open file at this path. */
function hasSyncedWrites(path: string): boolean {
  const number = readdirSync("/proc/self/fd").find((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false;
    }
  });
  const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, "utf8"))?.[1];
  return (Number.parseInt(flags ?? "0", 8) & 0o10000) !== 0;
}

const cases: readonly (readonly [OpenMode, boolean])[] = [
  ["create_synced", true],
  ["create", false],
];
it.runIf(process.platform === "linux").each(cases)(
  "asks the system for synced writes in mode %s: %s",
  async (mode, isSynced) => {
    const folder = makeFolder();
    const path = join(folder, "a");
    const file = await nodeFiles.open(path, mode);
    try {
      await file.write([Buffer.from("a"), Buffer.from("b")], 0);
      await file.fdatasync();
      expect(hasSyncedWrites(path)).toBe(isSynced);
      expect(readFileSync(path, "utf8")).toBe("ab");
    } finally {
      await file.close();
    }
  },
);
