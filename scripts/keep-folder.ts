// Keeps a data folder as this version writes it, for tests/walk/released-folders.test.ts: every later version must open it.
// To be run once for each release, before its version is raised; what is there for a version is not replaced.
//
//   npx node scripts/keep-folder.ts
//
// The folder holds records of three protocols with their blobs, and one batch that was accepted and is not stored.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { version } from "../src/base/version.ts";
import { Victim } from "../tests/chaos/victim.ts";
import { toBatchText } from "../tests/support/cirron-batch.ts";

const root = resolve(import.meta.dirname, "..");
const fixtures = join(root, "tests/fixtures");
const archive = join(fixtures, "folders", `${version}.tar.gz`);
if (existsSync(archive)) {
  console.error(`${archive} is kept already: a folder that was released does not change.`);
  process.exit(1);
}

const dataDir = mkdtempSync(join(tmpdir(), "tributary-keep-"));
const victim = await Victim.create(dataDir);
try {
  await victim.start();
  const files = ["cirron/torch_full", "xtrack/file_full/events.bin", "semantiva/plain_file"];
  const words = ["import", ...files.map((file) => join(fixtures, file)), "--server", victim.url];
  execFileSync(process.execPath, [join(root, "src/main.ts"), ...words], { stdio: "inherit" });
  await fetch(`${victim.url}/readyz?drained=1`);
  victim.signal("engine", "SIGSTOP");
  const body = toBatchText("left", [{ id: "left", parent: null, name: "left", at: 1 }]);
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${victim.url}/v1/runs/left-in-the-journal/traces`, { method: "POST", headers, body });
  if (answer.status !== 202) throw new Error(`the last batch was answered with ${answer.status}`);
  victim.signal("engine", "SIGKILL");
  await victim.end("SIGKILL");
  mkdirSync(join(fixtures, "folders"), { recursive: true });
  // What names this machine, or is a secret, is rebuilt by every start.
  const own = ["engine", "engine.sock", "login-secret", "owner-secret", "watch-secret", "tmp"];
  const left = own.map((name) => `--exclude=./${name}`);
  execFileSync("tar", ["czf", archive, "--sort=name", "--owner=0", "--group=0", ...left, "-C", dataDir, "."]);
  console.log(archive);
} finally {
  await victim.remove();
}
