// The same work with other trackers, through their own clients, and with ours, in one run: one series of points, each
// logged by itself where the client can, until the series can be read back whole. Needs Python and a package index: the
// clients are installed into an environment of their own, in the folder for temporary files.
//
// Usage: node bench/peers.ts [points, 200000] [--save] [--only NAME]

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inFolder } from "./support/folder.ts";
import { describeMachine, startServer, whole } from "./support/server.ts";
import { numbers, option, savePage } from "./support/words.ts";

const [points = 200_000] = numbers;
const only = option("--only");
const program = fileURLToPath(new URL("peers.py", import.meta.url));
const timeoutMs = 120_000;

const packages = {
  mlflow: "3.17.2",
  trackio: "0.43.0",
  aim: "3.29.1",
  wandb: "0.31.0",
  tensorboardx: "2.6.5",
  tensorboard: "2.21.0",
  duckdb: "2.0.0",
};

/** How each is used. */
const peers = {
  sqlite: "SQLite, WAL and full sync, 1,000 rows a transaction",
  duckdb: "DuckDB, `append` of 1,000 rows",
  mlflow: "MLflow on SQLite, `log_batch` of 1,000",
  trackio: "trackio, `log`",
  aim: "Aim, `track`",
  wandb: "wandb offline, `log`",
  tensorboardx: "tensorboardX, `add_scalar`",
} as const;

interface Result {
  readonly found: number;
  readonly readable_s: number;
  readonly read_s: number;
  readonly bytes: number;
  readonly peak_kib: number;
}

function install(): string {
  const folder = join(tmpdir(), "tributary-bench-peers");
  const python = join(folder, "bin", "python");
  if (!existsSync(python)) mustRun("python3", ["-m", "venv", folder]);
  const pinned = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  mustRun(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...pinned, "pandas"]);
  return python;
}

function mustRun(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args[1]} failed: this benchmark needs Python and a package index.`);
}

async function run(python: string, name: string, folder: string, more: readonly string[]): Promise<Result | string> {
  const args = [program, name, String(points), folder, ...more];
  const child = spawn(python, args, { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  const line = /^RESULT (.*)$/m.exec(out)?.[1];
  if (line !== undefined) return JSON.parse(line) as Result;
  return child.signalCode === null ? (err.trim().split("\n").at(-1) ?? "") : `not done after ${timeoutMs / 1000} s`;
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}

function toLine(name: string, result: Result | string, serverMiB = ""): string {
  if (typeof result === "string") return `| ${name} | – | | | | ${result.slice(0, 120)} |`;
  const rate = whole(result.found / result.readable_s);
  const bytes = (result.bytes / result.found).toFixed(1);
  const lost = result.found === points ? "" : `${whole(result.found)} of ${whole(points)} were there`;
  return `| ${name} | ${rate} | ${bytes} | ${whole(result.peak_kib / 1024)}${serverMiB} | ${(result.read_s * 1000).toFixed(0)} | ${lost} |`;
}

const python = install();
const lines: string[] = [];
for (const [name, what] of Object.entries(peers)) {
  if (only !== undefined && only !== name) continue;
  lines.push(toLine(what, await inFolder((folder) => run(python, name, folder, []))));
  console.log(lines.at(-1));
}
if (only === undefined || only === "tributary") {
  const server = await startServer();
  const mine = await run(python, "tributary", server.dataDir, [String(server.xtrackPort), server.url]);
  const { server: own, engine } = await server.usage();
  const bytes = (await sizeOf(join(server.dataDir, "store"))) + (await sizeOf(join(server.dataDir, "journal")));
  const result = typeof mine === "string" ? mine : { ...mine, bytes };
  lines.push(toLine("Tributary, each metric alone", result, ` · ${own.peakMiB} · ${engine.peakMiB}`));
  await server.close();
}
const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
const page = `# Beside other trackers

\`node bench/peers.ts ${points}\` on ${describeMachine()}. One series of ${whole(points)} points from one Python process; versions: ${versions.join(", ")}.

The rate counts from the first point until all of them were read back. Memory is the client's own; for Tributary that of its server and its engine follow. Bytes are those in the folder at the end; for Tributary of store and journal, before merges.

| | points/s until read | bytes a point | MiB | reading the series, ms | |
| --- | ---: | ---: | ---: | ---: | --- |
${lines.join("\n")}
`;
await savePage("peers", page);
