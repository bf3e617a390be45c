// Runs the tests, and ends with `N passed, N failed` alone on a line.
//
//   npm test                      everything that is quick
//   npm run test:long             the long tests instead
//   npm test -- src/journal       what vitest is told to run
//
// Missing programs are installed when that is possible (root on Debian), else their tests are skipped with one loud
// line. With TRIBUTARY_TEST_ALL=1 a skipped test is a failure.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTool, type ToolName, tools } from "../tests/support/tools.ts";

interface Summary {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const all = process.env["TRIBUTARY_TEST_ALL"] === "1";

function installWithApt(packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  console.log(`installing ${packages.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], { env, stdio: "ignore" });
  if (install().status === 0) return;
  spawnSync("apt-get", ["update", "-q"], { env, stdio: "ignore" });
  install();
}

/** The tools that are still missing after trying to install them. */
function provideTools(): ToolName[] {
  const missing = () => (Object.keys(tools) as ToolName[]).filter((name) => findTool(name) === undefined);
  const wanted = missing();
  if (wanted.length > 0) installWithApt(wanted.map((name) => tools[name].debian));
  return missing();
}

function runVitest(args: readonly string[], long: boolean): { status: number; summary: Summary | undefined } {
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

function main(): void {
  const args = process.argv.slice(2);
  const missing = args.length === 0 || all ? provideTools() : [];
  for (const name of missing) {
    const { debian, usedBy } = tools[name];
    console.error(`${all ? "FAILED" : "SKIPPED"}: ${debian} is not installed, so the ${usedBy} do not run`);
  }

  const { status, summary } = runVitest(
    args.filter((arg) => arg !== "--long"),
    args.includes("--long"),
  );
  const results = summary?.testResults ?? [];
  const skipped = results.flatMap((file) => file.assertionResults.filter((test) => isSkipped(test.status)));
  // A file that fails to load has no tests of its own to count, so it counts as one.
  const unloadable = results.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  let failed = (summary?.numFailedTests ?? 0) + unloadable + (all ? missing.length : 0);
  if (all) {
    for (const test of skipped) console.error(`FAILED: skipped: ${test.fullName}`);
    failed += skipped.length;
  } else if (skipped.length > 0) {
    console.error(`SKIPPED: ${skipped.length} tests`);
  }
  // An error outside any test leaves vitest's exit code as its only trace.
  if (failed === 0 && status !== 0) failed = 1;
  console.log(`${summary?.numPassedTests ?? 0} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function isSkipped(status: string): boolean {
  return status === "pending" || status === "skipped" || status === "todo";
}

main();
