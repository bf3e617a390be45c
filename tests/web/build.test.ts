// The page may be built anew while pages of an earlier build are open.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("a build is what is released, keeps the files that open pages may still ask for, and forgets those of the day before", () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-build-"));
  try {
    const assets = join(folder, "assets");
    mkdirSync(assets);
    const [open, old] = [join(assets, "logs-open.js"), join(assets, "logs-old.js.br")];
    for (const path of [open, old]) writeFileSync(path, "");
    const longAgo = new Date(Date.now() - 3 * 24 * 60 * 60 * 1000);
    utimesSync(old, longAgo, longAgo);
    const vite = join(root, "node_modules/vite/bin/vite.js");
    execFileSync(process.execPath, [vite, "build", "web", "--logLevel", "error", "--outDir", folder], { cwd: root });
    expect([existsSync(open), existsSync(old)]).toEqual([true, false]);
    const scripts = readdirSync(assets).filter((name) => name.endsWith(".js") && name !== "logs-open.js");
    expect(scripts.length).toBeGreaterThan(10);
    const [main = ""] = scripts.filter((name) => name.startsWith("index-"));
    expect(readFileSync(join(assets, main), "utf8")).not.toContain("React DevTools");
    for (const name of scripts)
      for (const how of ["br", "gz"]) expect(existsSync(join(assets, `${name}.${how}`))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
