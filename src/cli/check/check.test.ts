import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Finding, formatProblem, formatSummary, type Problem, type Summary } from "#protocol/finding.ts";
import { readRegistry } from "#protocol/semantiva/schema-dir.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { createRegistry } from "#wire/semantiva/registry.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { type CheckRun, checkPaths } from "./check.ts";

const registry = createRegistry(bundledSchemas);
const fixtures = "tests/fixtures";
const endLine = '{"record_type": "pipeline_end", "run_id": "r", "schema_version": 1, "seq": 2}';

let folder = "";
beforeEach(async () => {
  folder = makeFolder();
});

async function check(
  paths: readonly string[],
  options: Partial<CheckRun> = {},
): Promise<{ problems: Problem[]; summary: Summary }> {
  const findings: Finding[] = [];
  for await (const finding of checkPaths(paths, { registry, ...options })) findings.push(finding);
  const summary = findings.pop() as Summary;
  return { problems: findings as Problem[], summary };
}

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe("a Semantiva trace stream", () => {
  it("passes as the driver wrote it, and says once what the page has otherwise (S1) [ST-06]", async () => {
    const { problems, summary } = await check([`${fixtures}/semantiva`]);
    expect(problems.filter(({ severity }) => severity !== "note")).toEqual([]);
    expect(problems.map(({ code }) => code).sort()).toEqual(["headerless", "non_finite"]);
    expect(summary).toMatchObject({ files: 8, errors: 0, warnings: 0 });
    expect(summary.records).toEqual({
      semantiva: { pipeline_start: 14, pipeline_end: 14, ser: 79, run_space_start: 2, run_space_end: 2 },
    });
  });

  it("is held to the letter with --strict: the header on every line, and JSON without NaN [ST-03]", async () => {
    const { problems, summary } = await check([`${fixtures}/semantiva/edge_values`], { strict: true });
    expect(summary.errors).toBe(11);
    expect(problems.filter(({ code }) => code === "semantiva_header")).toHaveLength(10);
    expect(problems.find(({ code }) => code === "non_finite")).toMatchObject({ line: 1, message: "NaN is not JSON" });
  });

  it("names file, line, column, pointer and rule of every broken rule", async () => {
    const bad = '{"record_type": "pipeline_end", "run_id": 7, "schema_version": 2}';
    const path = await write("t.jsonl", `${endLine}\n\n${bad}\n${endLine.replace("2}", '2, "summary": []}')}\n`);
    const { problems, summary } = await check([path]);
    expect(problems.map((problem) => formatProblem(problem))).toEqual([
      `${path}:3:64: error: pipeline_end /schema_version must be 1 (const) [semantiva_header]`,
      `${path}:3:43: error: pipeline_end /run_id must be string (type) [semantiva_header]`,
      `${path}:4:90: error: pipeline_end /summary must be object (type) [semantiva_schema]`,
    ]);
    expect(summary).toMatchObject({ errors: 3, records: { semantiva: { pipeline_end: 1 } } });
    expect(formatSummary(summary)).toBe("semantiva: 1 pipeline_end\n1 file checked, 3 errors, 0 warnings");
  });

  it("judges a type of the user's own by one schema and one entry in a folder [ST-07]", async () => {
    const line = '{"record_type": "node_metric", "schema_version": 1, "run_id": "r", "value": "high"}';
    const path = await write("t.jsonl", line);
    expect((await check([path])).problems).toMatchObject([{ severity: "warning", code: "unknown_type", column: 17 }]);
    await write("registry.json", '{"records": {"node_metric": "node-metric.schema.json"}}');
    await write("node-metric.schema.json", '{"properties": {"value": {"type": "number"}}}');
    const { problems } = await check([path], { registry: await readRegistry(folder) });
    expect(problems).toMatchObject([{ code: "semantiva_schema", pointer: "/value", message: /must be number/ }]);
  });

  it("refuses a schema folder that cannot work, by name", async () => {
    await expect(readRegistry(join(folder, "none"))).rejects.toThrow("cannot be read");
    await expect(readRegistry(folder)).rejects.toThrow("needs a registry.json");
    await write("registry.json", '{"records": {"x": "gone.json"}}');
    await expect(readRegistry(folder)).rejects.toThrow("gone.json");
    await write("gone.json", "nope");
    await expect(readRegistry(folder)).rejects.toThrow("is not JSON");
  });

  it("reports half a line at the end of the file, invalid UTF-8, NULs and deep nesting with their place", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a": "'),
      Buffer.of(0xc3, 0x28),
      Buffer.from(`"}\n\0\0\0\n${"[".repeat(100_000)}\n${endLine}\n${endLine.slice(0, 50)}`),
    ]);
    const { problems, summary } = await check([await write("t.jsonl", bytes)]);
    expect(problems.map(({ line, column, code }) => [line, column, code])).toEqual([
      [1, 8, "line_not_json"],
      [2, 1, "line_not_json"],
      [3, 513, "line_too_deep"],
      [5, 51, "line_torn"],
    ]);
    expect(summary.records).toEqual({ semantiva: { pipeline_end: 1 } });
  });

  it("passes over a line of 100 MB without holding it, and goes on behind it", async () => {
    const path = join(folder, "long.jsonl");
    const part = Buffer.alloc(10 << 20, 0x61);
    await writeFile(path, `${endLine}\n`);
    for (let i = 0; i < 10; i++) await writeFile(path, part, { flag: "a" });
    await writeFile(path, `\n${endLine.replace("r", "q")}\n`, { flag: "a" });
    const before = process.memoryUsage().rss;
    const { problems, summary } = await check([path], { lineBytesMax: 8 << 20 });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
    expect(problems).toMatchObject([
      { line: 2, column: 1, code: "line_too_long", message: /104857600 bytes/ },
      { line: 3 },
    ]);
    expect(summary.records).toEqual({ semantiva: { pipeline_end: 1 } });
  });

  it("counts all problems of a bad file but gives only the first of them", async () => {
    const path = await write("t.jsonl", "{}\n".repeat(500));
    const { problems, summary } = await check([path], { problemsPerFileMax: 10 });
    expect(problems).toHaveLength(10);
    expect(summary).toMatchObject({ errors: 1500, withheld: 1490 });
  });

  it("warns of unknown types, keys that stand twice and times that are none", async () => {
    const path = await write(
      "t.jsonl",
      '{"record_type": "pipeline_end", "run_id": "r", "run_id": "q", "schema_version": 1, "timestamp": "noon"}',
    );
    const { problems } = await check([path]);
    expect(problems.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "warning duplicate_key",
      "warning bad_time",
    ]);
  });

  it("checks what comes in on stdin", async () => {
    async function* stdin() {
      yield Buffer.from(endLine.slice(0, 10));
      yield Buffer.from(`${endLine.slice(10)}\n{}`);
    }
    const { problems, summary } = await check(["-"], { stdin: stdin() });
    expect(problems[0]).toMatchObject({ file: "<stdin>", line: 2, code: "semantiva_header" });
    expect(summary.records).toEqual({ semantiva: { pipeline_end: 1 } });
  });

  it("checks ten thousand lines", async () => {
    const lines = await readFile(`${fixtures}/semantiva/rs_combinatorial_file/run_space_demo.trace.jsonl`, "utf8");
    const path = await write("many.jsonl", lines.repeat(152));
    const { summary } = await check([path]);
    expect(Object.values(summary.records["semantiva"] ?? {}).reduce((a, b) => a + b)).toBe(66 * 152);
  });
});

describe("the other formats", () => {
  it("pass as their clients wrote them", async () => {
    const { problems, summary } = await check([
      `${fixtures}/cirron/torch_stats/.cirron`,
      `${fixtures}/xtrack/file_full/events.bin`,
    ]);
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(summary.records["cirron"]).toMatchObject({ span: 184 });
    expect(summary.records["xtrack"]?.["run_start"]).toBeGreaterThan(0);
  });

  it("report a spoiled batch by its place, and a name that does not fit its content", async () => {
    const name = `${"5".padStart(20, "0")}-${"a".repeat(32)}.json`;
    const path = await write(name, '{"schema_version": 1,\n "batch_id": }');
    expect((await check([path])).problems).toMatchObject([{ line: 2, column: 14, code: "json_syntax" }]);
    await write(
      name,
      `{"schema_version": 1, "batch_id": "${"b".repeat(32)}", "created_ns": 5, "spans": [], "marks": [], "snapshots": []}`,
    );
    expect((await check([path])).problems).toMatchObject([{ severity: "warning", code: "name_mismatch" }]);
  });

  it("find Cirron's sentinels inside captured lines", async () => {
    const batch = `{"schema_version":1,"sdk_version":"x","batch_id":"${"b".repeat(32)}","created_ns":5,"spans":[],"marks":[{}],"snapshots":[]}`;
    const log = `epoch 1\nno newline {"__cirron_event__":"trace_batch","schema_version":1,"payload":${batch}}\n{"__cirron_event__": oops\n`;
    const { problems, summary } = await check([await write("job.log", log)]);
    expect(problems).toMatchObject([
      { severity: "error", code: "cirron_record", line: 2, column: 12 },
      { severity: "warning", code: "broken_sentinel", line: 3 },
    ]);
    expect(summary.records["cirron"]).toMatchObject({ batch: 1 });
  });

  it("report torn frames and refused events by their offset", async () => {
    const whole = await readFile(`${fixtures}/xtrack/file_full/events.bin`);
    const path = await write("torn.bin", whole.subarray(0, whole.length - 3));
    const { problems } = await check([path]);
    expect(problems.at(-1)).toMatchObject({ protocol: "xtrack", code: "xtrack_frame_torn", severity: "error" });
    expect(formatProblem(problems.at(-1) as Problem)).toMatch(/torn\.bin:@\d+: error: /);
  });

  it("say what frames hold: events by type, keys, and types that are not known", async () => {
    const frame = (t: string, seq: number, p: object) => encodeFrame(t, { seq, ts: seq }, p);
    const frames = [
      frame("auth", 0, { key: "k" }),
      frame("run_start", 1, { run_id: "r" }),
      frame("later", 2, { run_id: "r" }),
      frame("metric", 3, { run_id: "r", key: "loss" }),
    ];
    const { problems, summary } = await check([await write("said.bin", Buffer.concat(frames))]);
    const offsetOf = (at: number) => Buffer.concat(frames.slice(0, at)).length;
    expect(problems).toMatchObject([
      { severity: "error", code: "xtrack_missing_field", offset: offsetOf(3), pointer: "/p/value" },
      { severity: "warning", code: "unknown_type", offset: offsetOf(2), pointer: "/t" },
    ]);
    expect(summary.records["xtrack"]).toEqual({ auth: 1, run_start: 1, later: 1 });
  });

  it("say of what is no trace that it is none", async () => {
    const notes = await write("notes.txt", "hello");
    const { problems, summary } = await check([notes, join(folder, "none"), await write("void", "")]);
    expect(problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      "error not_a_trace",
      "error unreadable",
      "warning empty",
    ]);
    expect(summary.errors).toBe(2);
    expect((await check([await mkdtemp(join(folder, "x"))])).problems).toMatchObject([{ code: "no_traces" }]);
  });
});
