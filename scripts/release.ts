// Everything that goes out with a release, in `release/`: the package, its parts list (CycloneDX), the licences of what
// it needs, where it was built from (in-toto, SLSA provenance) and the checksums of all of them.
//
//   npm run release                   refuses a tree with changes, and known holes in what it depends on
//   npm run release -- --no-audit     where the registry answers no audits

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type PartsList, sumLines, toLicences, toProvenance } from "./release-texts.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "release");

function run(command: string, ...words: string[]): string {
  return execFileSync(command, words, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 28,
  });
}

function refuse(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

const sha256 = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(folder, name)))
    .digest("hex");

if (run("git", "status", "--porcelain").trim() !== "")
  refuse("There are changes that are not committed: a release is built from a commit.");
if (
  !process.argv.includes("--no-audit") &&
  spawnSync("npm", ["run", "-s", "check:audit", "--", "--must"], { cwd: root, stdio: "inherit" }).status !== 0
)
  refuse("Mend what the audit found, or say --no-audit where the registry answers no audits.");

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const startedOn = new Date();
const commit = run("git", "rev-parse", "HEAD").trim();
run("npm", "pack", "--pack-destination", folder);
const [archive] = readdirSync(folder) as [string];
const parts = run("npm", "sbom", "--omit=dev", "--sbom-format=cyclonedx");
writeFileSync(join(folder, "sbom.cdx.json"), parts);
writeFileSync(join(folder, "licences.md"), toLicences(JSON.parse(parts) as PartsList));
const lock = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
const built = {
  archive,
  sha256: sha256(archive),
  commit,
  lock,
  node: process.version,
  startedOn,
  finishedOn: new Date(),
};
writeFileSync(join(folder, "provenance.json"), `${JSON.stringify(toProvenance(built), null, 2)}\n`);
const names = readdirSync(folder).sort();
writeFileSync(join(folder, "SHA256SUMS"), sumLines(names.map((name) => [name, sha256(name)])));
console.log(run("ls", "-l", folder));
