import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { makeMigratedFolder } from "../support/migrated-folder.ts";

test("a process that starts waits for its store, although nothing else keeps it alive", async () => {
  const dataDir = await makeMigratedFolder();
  const child = join(import.meta.dirname, "../children/slow-store.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [child, dataDir]);
  expect(stdout).toBe("opened after 3 failures\n");
  await rm(dataDir, { recursive: true, force: true });
});
