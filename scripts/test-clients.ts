// Runs the real Python clients against a real server: `npm run test:clients`. Needs Python 3 and the package index;
// where either is missing it says so and ends well, because neither the product nor its tests depend on them.

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { createTestApp, type TestApp } from "../tests/support/app.ts";

const programs = join(import.meta.dirname, "../tests/clients/python");
const venv = join(tmpdir(), "tributary-clients");
const python = join(venv, "bin/python");
const packages = ["cirron-sdk", "semantiva"];

interface Check {
  readonly name: string;
  run(app: TestApp, folder: string): Promise<void>;
}

/** Not the synchronous kind: the server that the program talks to runs in this process. */
const execute = promisify(execFile);

async function runPython(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000 };
  return (await execute(python, [join(programs, program), ...args], options)).stdout;
}

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

async function getRuns(app: TestApp): Promise<{ id: string; status: string; protocols: string[] }[]> {
  const { body } = await app.get("/api/v1/runs");
  return (body as { runs: { id: string; status: string; protocols: string[] }[] }).runs;
}

const checks: readonly Check[] = [
  {
    name: "the real Cirron SDK sends a training, and its spool completes it without doubling a row",
    async run(app, folder) {
      const env = { CIRRON_API_KEY: "any", CIRRON_API_ENDPOINT: app.app.url };
      await runPython("cirron_training.py", [], folder, env);
      await app.app.collector.drained();
      const seen = await getRuns(app);
      must(seen.length === 1, `the training is one run, not ${JSON.stringify(seen)}`);
      const main = join(import.meta.dirname, "../src/main.ts");
      await execute(process.execPath, [main, "import", join(folder, ".cirron"), "--server", app.app.url]);
      const runs = await getRuns(app);
      must(runs.length === 1 && runs[0]?.status === "completed", `one completed run, not ${JSON.stringify(runs)}`);
      const query = "SELECT count() AS n, uniqExact(id) AS ids FROM TraceSpan";
      const answer = await app.post("/api/v1/sql", JSON.stringify({ query }));
      const [row] = (answer.body as { rows: string[][] }).rows;
      must(row?.[0] === row?.[1] && Number(row?.[0]) > 0, `no span twice: ${JSON.stringify(row)}`);
      const faults = (await app.get("/api/v1/faults")).body as { faults: unknown[] };
      must(faults.faults.length === 0, `no fault: ${JSON.stringify(faults.faults[0])}`);
    },
  },
  {
    name: "Semantiva's own aggregator and ours give the same verdicts on what its driver wrote",
    async run(app, folder) {
      const path = join(folder, "trace.ser.jsonl");
      // The pipelines log to standard output too; the verdicts are its last line.
      const said = (await runPython("semantiva_pipeline.py", [path], folder)).trim().split("\n").at(-1) as string;
      const verdicts = JSON.parse(said) as { run_id: string }[];
      const posted = await app.post("/v1/trace-stream?wait=1", readFileSync(path), {
        "content-type": "application/x-ndjson",
      });
      must(
        (posted.body as { faults: unknown[] }).faults.length === 0,
        `every line is accepted: ${JSON.stringify(posted.body)}`,
      );
      for (const expected of verdicts) {
        const { body } = await app.get(`/api/v1/runs/${expected.run_id}/completeness`);
        for (const [name, value] of Object.entries(expected)) {
          const ours = (body as Record<string, unknown>)[name];
          must(isDeepStrictEqual(ours, value), `${name} is ${JSON.stringify(ours)}, not ${JSON.stringify(value)}`);
        }
      }
      must(verdicts.length === 2, "both pipelines were traced");
    },
  },
];

function install(): boolean {
  if (existsSync(python) && spawnSync(python, ["-c", "import cirron, semantiva"]).status === 0) return true;
  if (spawnSync("python3", ["-m", "venv", venv], { encoding: "utf8" }).status !== 0) return false;
  const installed = spawnSync(python, ["-m", "pip", "install", "--quiet", ...packages], { encoding: "utf8" });
  return installed.status === 0;
}

if (!install()) {
  console.log("SKIPPED: the real clients need Python 3 and its package index, and one of them is not here.");
  console.log("0 passed, 0 failed, 2 skipped");
} else {
  let failed = 0;
  for (const { name, run } of checks) {
    const app = await createTestApp();
    const folder = mkdtempSync(join(tmpdir(), "tributary-client-"));
    mkdirSync(folder, { recursive: true });
    try {
      await run(app, folder);
      console.log(`ok      ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n        ${error instanceof Error ? error.message : error}`);
    } finally {
      await app.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
