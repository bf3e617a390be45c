import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../tests/support/folder.ts";
import { makeDataFolder } from "./data-folder.ts";
import { exitCodes } from "./exit.ts";

it("says in a sentence that a data folder is a file, or lies in one", () => {
  const folder = makeFolder();
  const file = join(folder, "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "inside")])
    expect(() => makeDataFolder(path)).toThrow(
      expect.objectContaining({
        code: exitCodes.usage,
        message: expect.stringMatching(`^The data folder ${path} cannot be used: .+\\.$`),
        hint: "Choose another with --data.",
      }),
    );
});

it("does not start a server on half of a backup", () => {
  const folder = makeFolder();
  makeDataFolder(folder);
  mkdirSync(join(folder, ".restoring"));
  expect(() => makeDataFolder(folder)).toThrow(/half of a backup/);
});
