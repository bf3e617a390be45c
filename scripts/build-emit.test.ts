// The SDK as a package: built, put into a project of its own, imported, type-checked and run there.

import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { suiteFolder } from "../tests/support/folder.ts";
import { buildEmit } from "./build-emit.ts";

const root = resolve(import.meta.dirname, "..");
const run = promisify(execFile);
const project = suiteFolder();
const installed = join(project, "node_modules/tributary-ml");

const program = `
import { health, mark, profile, scope, shutdown, snapshot } from "tributary-ml/emit/cirron";
import { createTraceWriter, float } from "tributary-ml/emit/semantiva";
import { type Run, startRun } from "tributary-ml/emit/xtrack";

profile({ path: "cirron", snapshots: "full", endpoint: process.env["SERVER"] ?? "http://127.0.0.1:1" });
const answer: number = scope("work", (span) => {
  mark("loss", 0.5, { step: 1 });
  snapshot({ w: Float32Array.of(1, 2) });
  return span.id.length;
});
await shutdown({ timeoutMs: process.env["SERVER"] === undefined ? 200 : 20_000 });

const trace = createTraceWriter({ path: "trace.jsonl" });
const pipeline = trace.pipelineStart({ plan: { nodes: [{ processor: "p", params: { value: float(1) } }] } });
trace.node(pipeline, 0, {}, () => answer);
trace.pipelineEnd(pipeline);
trace.close();

const tracked: Run = startRun({ id: "r", transport: { kind: "file", path: "events.bin" } });
tracked.metric("loss", 0.5, { step: 1, phase: "train" });
tracked.on("pause", ({ payload }) => { console.log(payload["x"]); });
await tracked.end();
console.log(JSON.stringify({ answer, marks: health().marks }));
`;

beforeAll(async () => {
  mkdirSync(installed, { recursive: true });
  const { name, version, type, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name, version, type, exports }));
  await buildEmit(join(installed, "dist"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(project, "main.ts"), program);
  mkdirSync(join(project, "node_modules/@types"));
  symlinkSync(join(root, "node_modules/@types/node"), join(project, "node_modules/@types/node"));
  symlinkSync(join(root, "node_modules/undici-types"), join(project, "node_modules/undici-types"));
});

it("runs in a project that knows nothing of this repository", async () => {
  const { stdout } = await run(process.execPath, [join(project, "main.ts")], { cwd: project });
  expect(JSON.parse(stdout)).toEqual({ answer: 32, marks: 2 });
  expect(readdirSync(project)).toEqual(expect.arrayContaining(["cirron", "events.bin", "trace.jsonl"]));
  expect(readdirSync(join(project, "cirron/spool"))).toHaveLength(1);
});

it("type-checks there with strict settings and no skipped libraries", async () => {
  const options = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["main.ts"] }));
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout } = await run(tsc, ["-p", project]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

it("bundles no dependency and names no module of this repository", () => {
  const emit = join(installed, "dist/emit");
  for (const name of readdirSync(emit).filter((file) => file.endsWith(".js"))) {
    const code = readFileSync(join(emit, name), "utf8");
    const imported = Array.from(
      code.matchAll(/^(?:import|export)[^"';]*from "([^"]+)"/gm),
      (match) => match[1] as string,
    );
    expect(imported.filter((source) => !source.startsWith("node:") && !source.startsWith("./shared-"))).toEqual([]);
  }
  for (const name of readdirSync(emit, { recursive: true }) as string[]) {
    if (name.endsWith(".d.ts")) expect(readFileSync(join(emit, name), "utf8")).not.toMatch(/"#|\.ts"/);
  }
});

it("sends from its own thread, whose file it finds beside itself", async () => {
  const { startRecorder } = await import("../tests/emit/http-recorder.ts");
  const server = await startRecorder(() => ({ status: 202 }));
  await run(process.execPath, [join(project, "main.ts")], {
    cwd: project,
    env: { ...process.env, SERVER: server.url },
  });
  expect(server.requests.filter((request) => request.method === "POST").length).toBeGreaterThan(0);
});

it("says its last words from a thread of its own too", async () => {
  const { startCollector } = await import("../tests/emit/collector.ts");
  const collector = await startCollector();
  const program = 'import { startRun } from "tributary-ml/emit/xtrack"; startRun({ id: "r" }); process.exit(0);';
  writeFileSync(join(project, "exits.ts"), program);
  const env = { ...process.env, XTRACK_HOST: "127.0.0.1", XTRACK_PORT: String(collector.port) };
  await run(process.execPath, [join(project, "exits.ts")], { cwd: project, env });
  expect(collector.events.map((event) => event.t)).toEqual(["run_start", "status", "run_end"]);
});
