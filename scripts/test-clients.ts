// Runs the real Python clients against a real server: `npm run test:clients`. Needs Python 3 and the package index;
// where either is missing it says so and ends well, because neither the product nor its tests depend on them.

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { createTestApp, type TestApp } from "../tests/support/app.ts";

const programs = join(import.meta.dirname, "../tests/clients/python");
const venvs = join(tmpdir(), "tributary-clients");
const cirronVersions = ["0.1.0", "0.2.0", "0.3.0"];
const semantivaVersion = "0.5.0";
const otelVersion = "1.45.1";
const torchVersion = "2.15.0";

interface Client {
  /** An environment variable without which it is not installed, and why. */
  readonly onlyWith?: { readonly variable: string; readonly why: string };
  /** Of its virtual environment, which is made once. */
  readonly folder: string;
  readonly packages: readonly string[];
  readonly module: string;
}

interface Check {
  readonly name: string;
  readonly client: Client;
  run(app: TestApp, folder: string): Promise<void>;
}

const semantiva: Client = {
  folder: join(venvs, `semantiva-${semantivaVersion}`),
  packages: [`semantiva==${semantivaVersion}`],
  module: "semantiva",
};

function cirron(version: string): Client {
  const packages = [`cirron-sdk==${version}`, "numpy"];
  return { folder: join(venvs, `cirron-sdk-${version}`), packages, module: "cirron, numpy" };
}

const otel: Client = {
  folder: join(venvs, `opentelemetry-${otelVersion}`),
  packages: [
    `opentelemetry-sdk==${otelVersion}`,
    `opentelemetry-exporter-otlp-proto-http==${otelVersion}`,
    `opentelemetry-exporter-otlp-proto-grpc==${otelVersion}`,
  ],
  module: "opentelemetry.exporter.otlp.proto.http, opentelemetry.exporter.otlp.proto.grpc",
};

const torch: Client = {
  onlyWith: { variable: "TRIBUTARY_TEST_TORCH", why: "it takes gigabytes" },
  folder: join(venvs, `torch-${torchVersion}`),
  packages: [`torch==${torchVersion}`, "numpy"],
  module: "torch",
};

const pythonOf = (client: Client): string => join(client.folder, "bin/python");

/** Not the synchronous kind: the server that the program talks to runs in this process. */
const execute = promisify(execFile);

async function runPython(
  client: Client,
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: 120_000 };
  return (await execute(pythonOf(client), [join(programs, program), ...args], options)).stdout;
}

/** Runs a program of the SDK against the server, then imports the spool it left. */
async function trainAndImport(app: TestApp, client: Client, program: string, folder: string): Promise<void> {
  const env = { CIRRON_API_KEY: "any", CIRRON_API_ENDPOINT: app.app.url };
  await runPython(client, program, [], folder, env);
  await app.app.collector.drained();
  const seen = await getRuns(app);
  must(seen.length === 1, `the training is one run, not ${JSON.stringify(seen)}`);
  const main = join(import.meta.dirname, "../src/main.ts");
  await execute(process.execPath, [main, "import", join(folder, ".cirron"), "--server", app.app.url]);
  const runs = await getRuns(app);
  must(runs.length === 1 && runs[0]?.status === "completed", `one completed run, not ${JSON.stringify(runs)}`);
  const { faults } = (await app.get("/api/v1/faults")).body as { faults: unknown[] };
  must(faults.length === 0, `no fault: ${JSON.stringify(faults[0])}`);
}

function mustEqual(ours: unknown, expected: unknown, what: string): void {
  must(isDeepStrictEqual(ours, expected), `${what} is ${JSON.stringify(ours)}, not ${JSON.stringify(expected)}`);
}

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}

async function getRuns(app: TestApp): Promise<{ id: string; status: string; protocols: string[] }[]> {
  const { body } = await app.get("/api/v1/runs");
  return (body as { runs: { id: string; status: string; protocols: string[] }[] }).runs;
}

function cirronChecks(version: string): Check[] {
  const client = cirron(version);
  return [
    {
      name: `cirron-sdk ${version} sends a training, and its spool completes it without doubling a row`,
      client,
      async run(app, folder) {
        await trainAndImport(app, client, "cirron_training.py", folder);
        const query = "SELECT count() AS n, uniqExact(id) AS ids FROM TraceSpan";
        const answer = await app.post("/api/v1/sql", JSON.stringify({ query }));
        const [row] = (answer.body as { rows: string[][] }).rows;
        must(row?.[0] === row?.[1] && Number(row?.[0]) > 0, `no span twice: ${JSON.stringify(row)}`);
      },
    },
    {
      name: `cirron-sdk ${version} sends a training that diverges, and it is shown as such`,
      client,
      async run(app, folder) {
        await trainAndImport(app, client, "cirron_diverging.py", folder);
        const { runs } = (await app.get("/api/v1/runs?filter=metrics.loss.nonfinite>0")).body as {
          runs: { id: string; integrity: { nonfinite: number } }[];
        };
        mustEqual(runs[0]?.integrity.nonfinite, 3, "the run's count of values that are not finite");
        const { metrics } = (await app.get(`/api/v1/runs/${runs[0]?.id}/metrics`)).body as {
          metrics: Record<string, unknown>[];
        };
        const { count, nan, pos_inf, neg_inf, last, max } = metrics[0] ?? {};
        const expected = { count: 4, nan: 1, pos_inf: 1, neg_inf: 1, last: "-Infinity", max: 1.0254 };
        mustEqual({ count, nan, pos_inf, neg_inf, last, max }, expected, "the loss");
        const { tensors } = (await app.get(`/api/v1/runs/${runs[0]?.id}/snapshots`)).body as {
          tensors: { hints: string[] }[];
        };
        // The first SDK leaves out tensors that it cannot make a histogram of.
        const hints = version === "0.1.0" ? [] : ["nan"];
        mustEqual(
          tensors.map((tensor) => tensor.hints),
          [hints, hints],
          "what is said about the tensors",
        );
      },
    },
  ];
}

function otelCheck(transport: "http" | "grpc"): Check {
  return {
    name: `opentelemetry-sdk ${otelVersion} sends a training's traces, metrics and logs over ${transport}`,
    client: otel,
    async run(app, folder) {
      const endpoint = transport === "http" ? app.app.url : `127.0.0.1:${app.app.otlp.grpc?.port}`;
      await runPython(otel, "otel_training.py", [transport, endpoint, "python-otel"], folder);
      await app.app.collector.drained();
      const ask = async (query: string): Promise<unknown> => {
        const answer = await app.post("/api/v1/sql", JSON.stringify({ query }));
        return (answer.body as { rows: unknown[][] }).rows;
      };
      const ofRun = "run_id = 'python-otel'";
      const loss = [1, 2, 3, 4, 5].map((step) => [String(step), 1 / step, "1"]);
      mustEqual(
        await ask(`SELECT step, value, worker FROM metrics WHERE ${ofRun} AND key = 'loss' ORDER BY step`),
        loss,
        "the loss",
      );
      const points = `SELECT key, max(value) FROM metrics WHERE ${ofRun} AND key != 'loss' GROUP BY key ORDER BY key`;
      const [count, greatest, mean, least, sum, tokens] = [5, 0.25, 0.25, 0.25, 1.25, 5120];
      mustEqual(
        await ask(points),
        [
          ["step_seconds.count", count],
          ["step_seconds.max", greatest],
          ["step_seconds.mean", mean],
          ["step_seconds.min", least],
          ["step_seconds.sum", sum],
          ["tokens", tokens],
        ],
        "the metrics",
      );
      const logs = `SELECT count(), any(level), uniqExact(span_id) FROM otel_logs WHERE ${ofRun}`;
      mustEqual(await ask(logs), [["5", "warning", "5"]], "the logs");
      const spans = `SELECT name, count(), max(status_code), any(status_message) FROM otel_spans WHERE ${ofRun} GROUP BY name`;
      const found = (await ask(`${spans} ORDER BY name`)) as unknown[][];
      mustEqual(
        found,
        [
          ["train", "1", "2", "diverged"],
          ["train_step", "5", "0", ""],
        ],
        "the spans",
      );
      const { faults } = (await app.get("/api/v1/faults")).body as { faults: unknown[] };
      must(faults.length === 0, `no fault: ${JSON.stringify(faults[0])}`);
    },
  };
}

interface Death {
  readonly cause: string;
  readonly text: string;
  readonly lines: readonly { readonly text: string }[];
  readonly refused: readonly string[];
}

/** Runs a program on two ranks under torchrun and `tributary run`, until it fails. */
async function dieOnTwoRanks(app: TestApp, folder: string, program: string): Promise<Death> {
  const main = join(import.meta.dirname, "../src/main.ts");
  const job = [join(torch.folder, "bin/torchrun"), "--standalone", "--nproc-per-node", "2", join(programs, program)];
  const words = ["run", "--server", app.app.url, "--data", join(folder, "data"), "--run-id", "two-ranks", "--quiet"];
  const ended = execute(process.execPath, [main, ...words, "--", ...job], { cwd: folder, timeout: 300_000 });
  must(await ended.then(() => false).catch(() => true), "the job fails");
  await app.app.collector.drained();
  return (await app.get("/api/v1/runs/two-ranks/post-mortem")).body as Death;
}

const torchChecks: readonly Check[] = [
  {
    name: `torch ${torchVersion}: of two ranks under torchrun one is killed, and the post-mortem names it`,
    client: torch,
    async run(app, folder) {
      const { cause, text, lines } = await dieOnTwoRanks(app, folder, "torch_two_ranks.py");
      mustEqual(cause, "killed", "the cause");
      must(text.startsWith("Rank 1 was killed first, with SIGKILL"), `the sentence names the rank: ${text}`);
      must(
        lines.some((line) => line.text.includes("Root Cause")),
        "the launcher's words are shown",
      );
    },
  },
  {
    name: `torch ${torchVersion}: of two ranks one falls silent, and its flight records name it and the collective`,
    client: torch,
    async run(app, folder) {
      const { cause, text, refused } = await dieOnTwoRanks(app, folder, "torch_hung_rank.py");
      mustEqual([cause, refused], ["hung_collective", []], "the cause, and the records that were not read");
      mustEqual(
        text,
        "Rank 1 never joined gloo:all_reduce #11 of the process group 0; Rank 0 waited in it.",
        "the sentence",
      );
    },
  },
];

const checks: readonly Check[] = [
  ...torchChecks,
  otelCheck("http"),
  otelCheck("grpc"),
  ...cirronVersions.flatMap(cirronChecks),
  {
    name: `semantiva ${semantivaVersion}: its own aggregator and ours give the same verdicts on what its driver wrote`,
    client: semantiva,
    async run(app, folder) {
      const path = join(folder, "trace.ser.jsonl");
      // The pipelines log to standard output too; the verdicts are its last line.
      const said = (await runPython(semantiva, "semantiva_pipeline.py", [path], folder))
        .trim()
        .split("\n")
        .at(-1) as string;
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
          mustEqual(ours, value, name);
        }
      }
      must(verdicts.length === 3, "all three pipelines were traced");
      const exported = await (await fetch(`${app.app.url}/api/v1/export`)).text();
      const texts = exported.split("\n").filter((line) => line.includes('"text":'));
      const kept = new Set(texts.map((line) => (JSON.parse(line) as { text: string }).text));
      const sent = readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => /\bNaN\b/.test(line));
      must(sent.length > 0 && sent.every((line) => kept.has(line)), "lines with NaN come back as they were written");
    },
  },
];

function install({ folder, packages, module }: Client): boolean {
  const python = join(folder, "bin/python");
  if (existsSync(python) && spawnSync(python, ["-c", `import ${module}`]).status === 0) return true;
  if (spawnSync("python3", ["-m", "venv", folder], { encoding: "utf8" }).status !== 0) return false;
  return spawnSync(python, ["-m", "pip", "install", "--quiet", ...packages], { encoding: "utf8" }).status === 0;
}

let [passed, failed, skipped] = [0, 0, 0];
for (const { name, client, run } of checks) {
  const { onlyWith } = client;
  if (onlyWith !== undefined && process.env[onlyWith.variable] === undefined) {
    skipped++;
    console.log(`SKIPPED ${name}\n        ${onlyWith.variable}=1 runs it; ${onlyWith.why}.`);
    continue;
  }
  if (!install(client)) {
    skipped++;
    console.log(`SKIPPED ${name}\n        ${client.packages.join(" ")} needs Python 3 and its package index.`);
    continue;
  }
  const app = await createTestApp({ otlpGrpcAddress: "127.0.0.1:0" });
  const folder = mkdtempSync(join(tmpdir(), "tributary-client-"));
  try {
    await run(app, folder);
    passed++;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n        ${error instanceof Error ? error.message : error}`);
  } finally {
    await app.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
process.exitCode = failed === 0 ? 0 : 1;
