// One program per format, compared with a file in the repository: any change of what is written shows in a review.
// Ids, times and facts of the machine are replaced by their places. TRIBUTARY_GOLDEN=write writes the files anew.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createTraceWriter, float } from "../../src/emit/semantiva.ts";
import { startRun } from "../../src/emit/xtrack.ts";
import { makeFolder } from "../support/folder.ts";
import { readFrames } from "./read-frames.ts";

function compare(name: string, text: string): void {
  const path = `tests/fixtures/emit/${name}`;
  if (process.env["TRIBUTARY_GOLDEN"] === "write") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}

/** Every different match becomes its number, in order of appearance. */
function place(text: string, pattern: RegExp, name: string): string {
  const seen = new Map<string, number>();
  return text.replaceAll(pattern, (match) => {
    if (!seen.has(match)) seen.set(match, seen.size + 1);
    return `<${name}${seen.get(match)}>`;
  });
}

it("writes a Cirron batch as it did before", async () => {
  const path = makeFolder();
  // A session says how much its process has recorded, so this one has a process of its own.
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, "../children/golden-cirron.ts"), path]);
  const [name] = readdirSync(`${path}/spool`) as [string];
  let text = readFileSync(`${path}/spool/${name}`, "utf8").replaceAll(path, "<path>");
  text = place(text, /\b[0-9a-f]{32}\b/g, "id");
  text = text.replaceAll(/\b\d{19}\b/g, "<ns>");
  text = text.replaceAll(/"(pid|thread_id|data_load_ns)":\d+/g, '"$1":"<$1>"');
  text = text.replace(/("name":"cirron.overhead_ms".*?"value":)[\d.e-]+/, "$1<ms>");
  compare("cirron.json", `${text.replaceAll(/\},\{"id"/g, '},\n{"id"')}\n`);
});

it("writes XTrack events as it did before", async () => {
  const path = `${makeFolder()}/events.bin`;
  const run = startRun({
    id: "golden",
    experiment: "e",
    name: "n",
    tags: { a: "b" },
    params: { lr: 0.1, opt: { type: "adam" } },
    workerId: "w",
    source: { entrypoint: "train.ts" },
    env: false,
    transport: { kind: "file", path },
  });
  run.metric("loss", 0.5, { step: 1, epoch: 0, phase: "train", batchSize: 8, datasetSize: 80, agg: "mean" });
  run.metricBatch({ loss: 1, acc: 0.25 }, { step: 2 });
  await run.artifact("/nowhere/model.bin", { type: "model", name: "m" });
  run.checkpoint({ step: 2, path: "/nowhere/2.bin", isBest: true, bestKey: "loss", metrics: { loss: 1 } });
  run.status("evaluating", { msg: "half", progress: { cur: 1, total: 2, unit: "epochs" } });
  run.log("warning", "careful", { logger: "l", step: 2, fields: { n: 1 } });
  await run.end({ finalMetrics: { loss: 1 } });
  const lines = readFrames(readFileSync(path)).map((event) => JSON.stringify(event));
  const text = lines
    .join("\n")
    .replaceAll(/"ts":\d+/g, '"ts":"<us>"')
    .replace(/"duration_ms":\d+/, '"duration_ms":"<ms>"');
  compare("xtrack.ndjson", `${text}\n`);
});

it("writes Semantiva lines as it did before", () => {
  const path = `${makeFolder()}/trace.jsonl`;
  const trace = createTraceWriter({ path, detail: "all" });
  const launch = trace.runSpaceStart({
    spec: { blocks: [{ value: [float(1), 2] }] },
    combineMode: "combinatorial",
    totalRuns: 1,
    inputs: [{ role: "r", uri: "file:///x", sha256: "ab".repeat(32), sizeBytes: 3 }],
    idempotencyKey: "k",
  });
  const plan = { nodes: [{ processor: "Source", params: { value: float(1) } }, { processor: "Double" }] };
  const run = trace.pipelineStart({ plan, launch, index: 0, context: { value: float(1) }, runId: "run-golden" });
  const context: Record<string, unknown> = { value: float(1) };
  const value = trace.node(
    run,
    0,
    { context, parameters: { value: float(1) }, parameterSources: { value: "node" } },
    () => 1,
  );
  try {
    trace.node(run, 1, { input: value, context, reads: ["value"] }, () => {
      context["twice"] = 2;
      throw new TypeError("no");
    });
  } catch (error) {
    trace.pipelineEnd(run, { error });
  }
  trace.runSpaceEnd(launch, { completed_runs: 0, status: "failed" });
  trace.close();
  let text = readFileSync(path, "utf8");
  text = text.replaceAll(/"(timestamp|started_at|finished_at)": "[^"]+"/g, '"$1": "<time>"');
  text = text.replaceAll(/"(wall_ms|cpu_ms)": \d+/g, '"$1": "<ms>"').replaceAll(/"seq": \d+/g, '"seq": "<seq>"');
  text = text.replaceAll(/"(node|platform|tributary)": "[^"]+"/g, '"$1": "<$1>"');
  compare("semantiva.jsonl", text);
});
