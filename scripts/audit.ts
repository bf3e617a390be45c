// Known holes in what the package needs at run time, as the registry tells them.
//
//   npm run check:audit              fails when there are any; says so when the registry could not be asked
//   npm run check:audit -- --must    fails then as well, as a release does

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { judgeAudit } from "./audit-result.ts";

const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], {
  cwd: resolve(import.meta.dirname, ".."),
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
  maxBuffer: 1 << 28,
  timeout: 60_000,
});
const { kind, sentence } = judgeAudit(stdout);
if (kind === "clean") process.exit(0);
console.error(sentence);
process.exit(kind === "holes" || process.argv.includes("--must") ? 1 : 0);
