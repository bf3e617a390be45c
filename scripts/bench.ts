// Runs the benchmarks one after another and lets each write its page in bench/results. They want the machine for
// themselves, for some minutes.
// Usage: npm run bench [-- name…]

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../bench", import.meta.url));
const all = readdirSync(folder).flatMap((file) => (file.endsWith(".ts") ? [file.slice(0, -3)] : []));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(", ")}; there are ${all.join(", ")}.`);

for (const name of asked.length > 0 ? asked : all) {
  const { status } = spawnSync(process.execPath, [join(folder, `${name}.ts`), "--save"], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
