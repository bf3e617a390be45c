// The Semantiva side of the SDK, read back by a reader written from the page, and judged by our own schemas.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTraceWriter, fingerprint, float, type PipelinePlan } from "../../src/emit/semantiva.ts";
import { bundledSchemas } from "../../src/wire/semantiva/bundled.ts";
import { createRegistry } from "../../src/wire/semantiva/registry.ts";
import { makeFolder } from "../support/folder.ts";
import { type ReadRecord, readTrace } from "./read-trace.ts";
import { moduleUrl, startProgram } from "./sandbox.ts";

const plan: PipelinePlan = {
  nodes: [
    { processor: "demo.Source", params: { value: float(2) } },
    { processor: "demo.Add", params: { addend: 1 } },
    { processor: "demo.Sink" },
  ],
};
const registry = createRegistry(bundledSchemas);
const ofType = (records: ReadRecord[], type: string) => records.filter((record) => record.record_type === type);

function readAll(folder: string): ReadRecord[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readTrace(`${folder}/${name}`));
}

/** One run of the plan, in which each node adds to the context. */
function runPipeline(path: string, detail = "", fail = false) {
  using trace = createTraceWriter({ path, detail });
  const run = trace.pipelineStart({ plan, meta: { who: "test" } });
  const context: Record<string, unknown> = { seed: 7 };
  try {
    const value = trace.node(
      run,
      0,
      { parameters: { value: 2 }, parameterSources: { value: "node" }, context },
      () => 2,
    );
    const sum = trace.node(run, 1, { input: value, context, reads: ["seed"] }, () => {
      if (fail) throw new RangeError("too far");
      context["sum"] = value + 1;
      context["seed"] = 8;
      return value + 1;
    });
    trace.node(run, 2, { input: sum, context }, () => undefined);
    trace.pipelineEnd(run, { nodes: 3 });
  } catch (error) {
    trace.pipelineEnd(run, { error });
  }
  return run;
}

describe("records", () => {
  it("writes one object a line: start, one SER a node, end [ST-01, ST-02, ST-03, ST-08, ST-09]", () => {
    const path = `${makeFolder()}/trace.jsonl`;
    const run = runPipeline(path);
    const records = readTrace(path);
    expect(records.map((record) => record.record_type)).toEqual([
      "pipeline_start",
      "ser",
      "ser",
      "ser",
      "pipeline_end",
    ]);
    expect(new Set(records.map((record) => record.run_id))).toEqual(new Set([run.id]));
    expect(records[0]).toMatchObject({
      pipeline_id: run.pipelineId,
      meta: { num_nodes: 3, who: "test" },
      pipeline_spec_canonical: {
        version: 1,
        nodes: run.nodeIds.map((id, index) => ({ node_uuid: id, declaration_index: index, role: "processor" })),
        edges: [
          { source: run.nodeIds[0], target: run.nodeIds[1] },
          { source: run.nodeIds[1], target: run.nodeIds[2] },
        ],
      },
    });
    expect(records[4].summary).toEqual({ status: "ok", nodes: 3 });
  });

  it("times lifecycle records in UTC and numbers them per process [ST-04, ST-05]", () => {
    const folder = makeFolder();
    for (let i = 0; i < 3; i++) runPipeline(`${folder}/t.jsonl`);
    const seqs = readTrace(`${folder}/t.jsonl`)
      .filter((record) => record.seq !== undefined)
      .map((record) => record.seq);
    expect(seqs).toEqual(Array.from({ length: 6 }, (_, i) => seqs[0] + i));
  });

  it("says what a node did: identity, dependencies, processor, context, checks, time [ST-15]", () => {
    const path = `${makeFolder()}/trace.jsonl`;
    const run = runPipeline(path);
    const [first, second] = ofType(readTrace(path), "ser");
    expect(first.processor).toEqual({
      ref: "demo.Source",
      parameters: { value: 2 },
      parameter_sources: { value: "node" },
    });
    expect(second.identity).toEqual({ run_id: run.id, pipeline_id: run.pipelineId, node_id: run.nodeIds[1] });
    expect(second.dependencies.upstream).toEqual([run.nodeIds[0]]);
    expect(second.context_delta).toMatchObject({ read_keys: ["seed"], created_keys: ["sum"], updated_keys: ["seed"] });
    expect(Object.keys(second.context_delta.key_summaries).sort()).toEqual(["seed", "sum"]);
    expect(second.assertions.preconditions[0]).toEqual({
      code: "required_keys_present",
      result: "PASS",
      details: { expected_keys: ["seed"], missing_keys: [] },
    });
    expect(second.status).toBe("succeeded");
  });

  it("records a failing node, lets the error through and ends the pipeline with it [ST-09, ST-15]", () => {
    const path = `${makeFolder()}/trace.jsonl`;
    runPipeline(path, "", true);
    const records = readTrace(path);
    expect(records.map((record) => record.record_type)).toEqual(["pipeline_start", "ser", "ser", "pipeline_end"]);
    expect(records[2]).toMatchObject({ status: "error", error: { type: "RangeError", message: "too far" } });
    expect(records[2].assertions.postconditions[0]).toMatchObject({ code: "RangeError", result: "FAIL" });
    expect(records[3].summary).toEqual({ status: "error", error: "too far" });
  });

  it("records asynchronous nodes when they are done", async () => {
    const path = `${makeFolder()}/trace.jsonl`;
    using trace = createTraceWriter({ path, flush: "record" });
    const run = trace.pipelineStart({ plan });
    expect(await trace.node(run, 0, {}, async () => 5)).toBe(5);
    await expect(trace.node(run, 1, {}, () => Promise.reject(new Error("late")))).rejects.toThrow("late");
    expect(ofType(readTrace(path), "ser").map((record) => record.status)).toEqual(["succeeded", "error"]);
  });

  it("gives the same plan the same ids, and computes the pipeline's as Semantiva does", () => {
    const line = readFileSync("tests/fixtures/semantiva/plain_file/trace.ser.jsonl", "utf8").split("\n")[0] as string;
    const recorded = JSON.parse(line, (key, value) => (key === "value" || key === "addend" ? float(value) : value));
    using trace = createTraceWriter({ path: `${makeFolder()}/t.jsonl` });
    const nodes = recorded.pipeline_spec_canonical.nodes.map((node: ReadRecord) => ({
      id: node.node_uuid,
      processor: node.processor_ref,
      params: node.params,
    }));
    expect(trace.pipelineStart({ plan: { nodes } }).pipelineId).toBe(recorded.pipeline_id);
    expect(trace.pipelineStart({ plan }).nodeIds).toEqual(trace.pipelineStart({ plan }).nodeIds);
  });

  it("passes our own schemas in their strict mode, whatever values a program has", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), fc.anything(), (values, data) => {
        const path = `${makeFolder()}/t.jsonl`;
        using trace = createTraceWriter({ path, detail: "all" });
        const run = trace.pipelineStart({ plan, context: values, index: 0 });
        const context = { ...values };
        trace.node(run, 0, { input: data, parameters: values, context }, () => data);
        trace.pipelineEnd(run, values);
        trace.flush();
        for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
          const strict = line.replaceAll(/(?<=[[:,] ?)-?(NaN|Infinity)(?=[\],}])/g, "0");
          expect(registry.judge(JSON.parse(strict), "document")).toMatchObject({ ok: true, known: true });
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("detail flags", () => {
  const summariesOf = (detail: string) => {
    const path = `${makeFolder()}/trace.jsonl`;
    runPipeline(path, detail);
    return ofType(readTrace(path), "ser")[1].summaries;
  };
  const sha = expect.stringMatching(/^sha256-[0-9a-f]{64}$/);

  it.each(["", "hash", " HASH ", "compact", "unknown,,"])("%j shows hashes [ST-17]", (detail) => {
    expect(summariesOf(detail)).toEqual({
      input_data: { dtype: "number", sha256: sha },
      output_data: { dtype: "number", sha256: sha },
      pre_context: { sha256: sha },
      post_context: { sha256: sha },
    });
  });

  it("repr shows short texts and no hashes, context the context's values, all shows everything [ST-17]", () => {
    expect(summariesOf("Repr")).toEqual({
      input_data: { dtype: "number", repr: "2" },
      output_data: { dtype: "number", repr: "3" },
    });
    expect(summariesOf("context")).toEqual({
      pre_context: { repr: "seed=7" },
      post_context: { repr: "seed=8, sum=3" },
    });
    expect(summariesOf("all")).toEqual({
      input_data: { dtype: "number", repr: "2", sha256: sha },
      output_data: { dtype: "number", repr: "3", sha256: sha },
      pre_context: { repr: "seed=7", sha256: sha },
      post_context: { repr: "seed=8, sum=3", sha256: sha },
    });
    expect(summariesOf("hash, repr")).toMatchObject({
      input_data: { repr: "2", sha256: sha },
      pre_context: { sha256: sha },
    });
  });

  it("hashes an empty context as Semantiva does, and cuts long texts", () => {
    const path = `${makeFolder()}/t.jsonl`;
    using trace = createTraceWriter({ path, detail: "all", flush: "record" });
    const run = trace.pipelineStart({ plan });
    trace.node(run, 0, { context: {}, input: "x".repeat(500) }, () => undefined);
    const { summaries } = ofType(readTrace(path), "ser")[0];
    expect(summaries.pre_context.sha256).toBe(
      "sha256-44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    );
    expect(summaries.input_data).toMatchObject({ dtype: "string", len: 500, repr: `"${"x".repeat(199)}…` });
  });
});

describe("run spaces", () => {
  it("start once with the launch's constants, and runs point to them [ST-10, ST-11, ST-13, ST-14]", async () => {
    const folder = makeFolder();
    const csv = `${folder}/inputs.csv`;
    writeFileSync(csv, "a,b\n1,2\n");
    const input = await fingerprint("table", csv);
    expect(input.sha256).toBe(createHash("sha256").update("a,b\n1,2\n").digest("hex"));
    using trace = createTraceWriter({ path: `${folder}/trace`, flush: "record" });
    const launch = trace.runSpaceStart({
      spec: { combine: "by_position", values: [float(1), float(2)] },
      combineMode: "by_position",
      totalRuns: 2,
      maxRunsLimit: 500,
      plannedRunCount: 2,
      inputs: [input],
      attempt: 2,
    });
    for (const index of [0, 1]) {
      const run = trace.pipelineStart({ plan, launch, index, context: { value: index } });
      trace.pipelineEnd(run);
    }
    trace.runSpaceEnd(launch, { completed_runs: 2 });
    const names = readdirSync(`${folder}/trace`).sort();
    expect(names.map((name) => name.replace(/^\d{8}-\d{6}_/, "").replace(/run-[0-9a-f]{32}/, "run-X")).sort()).toEqual([
      "run-X.ser.jsonl",
      "run-X.ser.jsonl",
      `runspace-${launch.id}.trace.jsonl`,
    ]);
    const records = readAll(`${folder}/trace`);
    const [start] = ofType(records, "run_space_start");
    expect(start).toMatchObject({
      run_id: launch.id,
      run_space_launch_id: launch.id,
      run_space_attempt: 2,
      run_space_spec_id: launch.specId,
      run_space_inputs_id: launch.inputsId,
      run_space_max_runs_limit: 500,
      run_space_planned_run_count: 2,
      run_space_input_fingerprints: [
        { role: "table", uri: input.uri, digest: { sha256: input.sha256 }, size_bytes: 8 },
      ],
    });
    const runs = ofType(records, "pipeline_start").sort((a, b) => a.run_space_index - b.run_space_index);
    expect(
      runs.map((run) => [run.run_space_launch_id, run.run_space_attempt, run.run_space_index, run.run_space_context]),
    ).toEqual([
      [launch.id, 2, 0, { value: 0 }],
      [launch.id, 2, 1, { value: 1 }],
    ]);
    for (const run of runs)
      expect(Object.keys(run).filter((key) => /spec_id|inputs_id|combine|total/.test(key))).toEqual([]);
    expect(ofType(records, "run_space_end")[0]).toMatchObject({
      run_space_launch_id: launch.id,
      run_space_attempt: 2,
      summary: { planned_runs: 2, completed_runs: 2 },
    });
  });

  it("have the same launch id for the same key over the same plan, and another for another [ST-10]", () => {
    using trace = createTraceWriter({ path: `${makeFolder()}/t.jsonl` });
    const launch = (idempotencyKey: string, spec = { a: 1 }) =>
      trace.runSpaceStart({ spec, combineMode: "combinatorial", totalRuns: 0, idempotencyKey }).id;
    expect(launch("k")).toBe(launch("k"));
    expect(launch("k")).not.toBe(launch("l"));
    expect(launch("k")).not.toBe(launch("k", { a: 2 }));
    expect(launch("k")).toMatch(/^[0-9a-f]{64}$/);
    const plain = trace.runSpaceStart({ spec: {}, combineMode: "combinatorial", totalRuns: 0 });
    expect(plain.id).toMatch(/^[0-9a-f]{32}$/);
    expect(plain.inputsId).toBeUndefined();
  });
});

describe("files", () => {
  it("appends to one file when the path has a suffix, and makes one per run in a folder, dots or not", () => {
    const folder = makeFolder();
    for (let i = 0; i < 2; i++) runPipeline(`${folder}/one.ser.jsonl`);
    expect(ofType(readTrace(`${folder}/one.ser.jsonl`), "pipeline_start")).toHaveLength(2);
    const dotted = `${folder}/v1.5`;
    mkdirSync(dotted);
    const run = runPipeline(dotted);
    expect(readdirSync(dotted)).toEqual([expect.stringMatching(new RegExp(`^\\d{8}-\\d{6}_${run.id}\\.ser\\.jsonl$`))]);
  });

  it("has every record on disk at once when asked, and whole lines only after kill -9", async () => {
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `import { createTraceWriter } from ${JSON.stringify(moduleUrl("src/emit/semantiva.ts"))};
       const trace = createTraceWriter({ path: "t.jsonl", flush: "record" });
       const run = trace.pipelineStart({ plan: { nodes: [{ processor: "p" }] } });
       for (let i = 0; ; i++) { trace.node(run, 0, { input: i }, () => i); if (i === 200) console.log("far"); }`,
    );
    await child.said("far");
    child.kill("SIGKILL");
    await child.ended;
    expect(readTrace(`${folder}/t.jsonl`).length).toBeGreaterThan(200);
  });

  it("writes what is buffered when the program ends without closing", async () => {
    const folder = makeFolder();
    const { code } = await startProgram(
      folder,
      `import { createTraceWriter } from ${JSON.stringify(moduleUrl("src/emit/semantiva.ts"))};
       const trace = createTraceWriter({ path: "t.jsonl" });
       trace.pipelineStart({ plan: { nodes: [] } });
       process.exit(4);`,
    ).ended;
    expect(code).toBe(4);
    expect(readTrace(`${folder}/t.jsonl`)).toHaveLength(1);
  });

  it("never throws when the path cannot be written: it counts what is lost and says so once", async () => {
    for (const path of ["/proc/none/t.jsonl", "/proc/none/folder"]) {
      const trace = createTraceWriter({ path, flush: "record" });
      const run = trace.pipelineStart({ plan });
      expect(trace.node(run, 0, {}, () => 1)).toBe(1);
      trace.pipelineEnd(run);
      trace.pipelineStart({ plan });
      trace.close();
      expect(trace.lost).toBe(4);
    }
    const said = await startProgram(
      makeFolder(),
      `import { createTraceWriter } from ${JSON.stringify(moduleUrl("src/emit/semantiva.ts"))};
       const trace = createTraceWriter({ path: "/proc/none/t.jsonl", flush: "record" });
       for (let i = 0; i < 3; i++) trace.pipelineStart({ plan: { nodes: [] } });`,
    ).ended;
    expect(said).toMatchObject({ code: 0, stderr: "tributary: cannot write traces to /proc/none (ENOENT)\n" });
  });
});

it("keeps the records of a run and a launch that are started again under the same id before they ended", () => {
  const path = makeFolder();
  const launch = { spec: {}, combineMode: "combinatorial", totalRuns: 1, launchId: "l" } as const;
  using trace = createTraceWriter({ path });
  for (let start = 0; start < 2; start++) {
    trace.runSpaceStart(launch);
    trace.pipelineStart({ plan, runId: "r" });
  }
  trace.close();
  const records = readAll(path);
  expect(ofType(records, "pipeline_start")).toHaveLength(2);
  expect(ofType(records, "run_space_start")).toHaveLength(2);
});
