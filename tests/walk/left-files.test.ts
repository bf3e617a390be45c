import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testApp } from "../support/app.ts";

it("a start removes what a killed process left of backups and uploads, and nothing else", async () => {
  const app = await testApp();
  const tmp = join(app.dataDir, "tmp");
  mkdirSync(join(tmp, "backup-1-2"));
  for (const name of ["backup-1-2/spans", `blob-${process.pid}-0`, "another"]) writeFileSync(join(tmp, name), "left");
  await app.reopen();
  expect(readdirSync(tmp)).toEqual(["another"]);
});
