// Runs the tests, and ends with `N passed, N failed` alone on a line.
//
//   npm test                      everything that is quick
//   npm run test:long             the long tests instead
//   npm test -- src/journal       what vitest is told to run
//
// Missing programs are installed when that is possible (root on Debian), else their tests are skipped with one loud
// line. With TRIBUTARY_TEST_ALL=1 a skipped test is a failure.
//
// With CI=true, files that fail are run once more by themselves: real browsers, sockets and kills on a shared machine
// lose a race from time to time, and a try in the same file would find what the first one left behind.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTool, type Tool, type ToolName, tools } from "../tests/support/tools.ts";
import { afterSecondTry, failedFiles, type Summary, toTestResult } from "./test-result.ts";

const all = process.env["TRIBUTARY_TEST_ALL"] === "1";

function installWithApt(names: readonly ToolName[]): void {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  const packages = names.map((name) => tools[name].debian[0]);
  console.log(`installing ${packages.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync("apt-get", ["-y", "-q", ...args], { env, stdio: "ignore" }).status === 0;
  const install = (some: readonly string[]) => apt("install", "--no-install-recommends", ...some);
  if (install(packages)) return;
  apt("update");
  if (install(packages)) return;
  // A package that this release does not have must not keep the others away.
  for (const name of names) tools[name].debian.some((one) => install([one]));
}

/** The tools that are still missing after trying to install them. */
function provideTools(): ToolName[] {
  const missing = () => (Object.keys(tools) as ToolName[]).filter((name) => findTool(name) === undefined);
  const wanted = missing();
  if (wanted.length > 0) installWithApt(wanted);
  return missing();
}

interface VitestRun {
  readonly status: number;
  readonly summary: Summary | undefined;
}

function runVitest(args: readonly string[], long: boolean): VitestRun {
  const folder = mkdtempSync(join(tmpdir(), "tributary-test-"));
  const file = join(folder, "summary.json");
  const vitest = new URL("../node_modules/vitest/vitest.mjs", import.meta.url).pathname;
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const env = { ...process.env, TRIBUTARY_TEST_LONG: long ? "1" : "" };
    const result = spawnSync(process.execPath, [vitest, "run", ...reporters, ...args], { env, stdio: "inherit" });
    const summary = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Summary) : undefined;
    return { status: result.status ?? 1, summary };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runTwice(args: readonly string[], long: boolean): VitestRun {
  const first = runVitest(args, long);
  const failed = process.env["CI"] === "true" ? failedFiles(first.summary) : [];
  if (first.summary === undefined || failed.length === 0) return first;
  for (const file of failed) console.error(`SECOND TRY: ${file}`);
  const second = runVitest([...failed, "--maxWorkers=1"], long);
  if (second.summary === undefined) return first;
  return { status: second.status, summary: afterSecondTry(first.summary, second.summary) };
}

function main(): void {
  const args = process.argv.slice(2);
  const missing = args.length === 0 || all ? provideTools() : [];
  const isNeeded = (name: ToolName) => (tools[name] as Tool).isOptional !== true;
  for (const name of missing) {
    const { debian, usedBy } = tools[name];
    const word = all && isNeeded(name) ? "FAILED" : "SKIPPED";
    console.error(`${word}: ${debian[0]} is not installed, so the ${usedBy} do not run`);
  }

  const { status, summary } = runTwice(
    args.filter((arg) => arg !== "--long"),
    args.includes("--long"),
  );
  const { passed, failed, lines } = toTestResult({
    summary,
    status,
    args,
    all,
    missing: missing.filter(isNeeded).length,
  });
  for (const line of lines) console.error(line);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
