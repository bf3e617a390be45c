// The package as npm sees it, and the `tributary` command of a checkout.

import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { oldestNode, toOldNodeSentence } from "#base/old-node.ts";
import { version } from "#base/version.ts";
import { makeFolder } from "../support/folder.ts";
import { readText } from "./files.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readText("package.json")) as {
  engines: { node: string };
  files: string[];
  bin: Record<string, string>;
  scripts: Record<string, string>;
};

it("is built whenever it is packed, and holds the command that it names", () => {
  expect(manifest.scripts["prepack"]).toBe("npm run -s build");
  expect(manifest.bin).toEqual({ tributary: "./bin/tributary" });
  expect(manifest.files).toEqual(expect.arrayContaining(["bin", "dist"]));
});

it("has a command that runs in any folder and through a link", async () => {
  const folder = makeFolder();
  const link = join(folder, "a tributary");
  symlinkSync(join(root, "bin/tributary"), link);
  // As a shell with another Node, or none, in its path.
  const { stdout } = await run(link, ["--version"], { cwd: folder, env: { PATH: "/usr/bin:/bin" } });
  expect(stdout.trim()).toBe(version);
});

it("has a server's large blocks go back to the system, and leaves other commands the memory of the C library as it is", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "dist"));
  copyFileSync(join(root, "bin/tributary"), join(folder, "bin/tributary"));
  const told = "MALLOC_MMAP_THRESHOLD_";
  writeFileSync(join(folder, "dist/main.js"), `console.log(process.env["${told}"] ?? "nothing")`);
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const tell = async (word: string, env: Record<string, string> = {}): Promise<string> =>
    (await run(join(folder, "bin/tributary"), [word], { env: { PATH: path, ...env } })).stdout.trim();
  expect([await tell("up"), await tell("run"), await tell("up", { [told]: "7" })]).toEqual(["131072", "nothing", "7"]);
});

it("tells an old Node in a sentence what it needs", async () => {
  expect(manifest.engines.node).toBe(`>=${oldestNode}`);
  expect([toOldNodeSentence("22.18.0"), toOldNodeSentence("24.1.0")]).toEqual(["", ""]);
  const older = '{ value: { ...process.versions, node: "20.20.0" } }';
  const pretend = `data:text/javascript,Object.defineProperty(process, "versions", ${older})`;
  const main = join(root, "src/main.ts");
  const failed = await run(process.execPath, ["--import", pretend, main, "--version"]).catch((error) => error);
  expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 2, stdout: "" });
  expect(failed.stderr).toContain("tributary needs Node 22.18 or later, and this is Node 20.20.0.");
});
