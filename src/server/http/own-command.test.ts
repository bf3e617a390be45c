import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { findLocalCommand, readOwnCommand } from "./own-command.ts";

it("is the path of its own for a package in a project's folder, and none for one that is installed for all", () => {
  const folder = mkdtempSync(join(tmpdir(), "own command "));
  const program = join(folder, "node_modules/tributary-ml/dist/chunks/server.js");
  const url = pathToFileURL(program).href;
  expect(findLocalCommand(url)).toBeNull();
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(folder, "node_modules/.bin/tributary"), "");
  expect(findLocalCommand(url)).toBe(`'${folder}/node_modules/.bin/tributary'`);
  rmSync(folder, { recursive: true });
});

it("is the one in bin for a checkout", () => {
  expect(readOwnCommand()).toMatch(/\/bin\/tributary'?$/);
});
