// Runs the benchmarks one after another and lets each write its page in bench/results. They want the machine for
// themselves, for some minutes.
// Usage: npm run bench [-- name…]

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const all = [
  "json",
  "journal",
  "xtrack-decode",
  "store",
  "ingest",
  "otlp",
  "large",
  "growth",
  "long-run",
  "query",
  "sql",
  "emit",
  "several",
  "jobs",
  "small",
  "overload",
  "peers",
  "disk",
  "live",
  "web",
];
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(", ")}; there are ${all.join(", ")}.`);

for (const name of asked.length > 0 ? asked : all) {
  const path = fileURLToPath(new URL(`../bench/${name}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, [path, "--save"], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
