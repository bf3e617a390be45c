import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { prepareFolders } from "./engine-config.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "engine-config-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

it("writes its settings once, so that a server starts on a full disk, and again where they differ", () => {
  const { config } = prepareFolders(dataDir);
  const paths = ["users.xml", "config.xml"].map((name) => join(config, name));
  const texts = paths.map((path) => readFileSync(path, "utf8"));
  const long = new Date("2001-01-01");
  for (const path of paths) utimesSync(path, long, long);
  prepareFolders(dataDir);
  expect(paths.map((path) => statSync(path).mtime)).toEqual([long, long]);
  for (const path of paths) writeFileSync(path, "<of another release/>");
  prepareFolders(dataDir);
  expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(texts);
});
