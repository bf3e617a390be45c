import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseJson } from "#base/json/parse.ts";
import { atPointer } from "#base/json/pointer.ts";
import type { JsonObject, JsonValue } from "#base/json/value.ts";
import { bundledSchemas } from "./bundled.ts";
import { createRegistry, type Judgement, RegistryError, type Strictness, violationsMax } from "./registry.ts";

const registry = createRegistry(bundledSchemas);
const hex = "a".repeat(64);

const start: JsonObject = {
  record_type: "pipeline_start",
  schema_version: 1,
  run_id: "r",
  pipeline_id: "p",
  pipeline_spec_canonical: { nodes: [] },
};
const end: JsonObject = { record_type: "pipeline_end", schema_version: 1, run_id: "r" };
const launchStart: JsonObject = {
  record_type: "run_space_start",
  schema_version: 1,
  run_id: "l",
  run_space_spec_id: hex,
  run_space_launch_id: "l",
  run_space_attempt: 1,
  run_space_combine_mode: "by_position",
  run_space_total_runs: 0,
};
const launchEnd: JsonObject = {
  record_type: "run_space_end",
  schema_version: 1,
  run_id: "l",
  run_space_launch_id: "l",
  run_space_attempt: 1,
};
const ser = realRecords("error_midway/trace.ser.jsonl").find((record) => record["record_type"] === "ser") as JsonObject;

function realRecords(path: string): JsonObject[] {
  const text = readFileSync(`tests/fixtures/semantiva/${path}`, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const parsed = parseJson(line);
      if (!parsed.ok) throw new Error(parsed.fault.reason);
      return parsed.value as JsonObject;
    });
}

/** A copy with the value at a path of keys replaced, or removed when undefined. */
function change(record: JsonObject, path: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(record);
  const keys = path.split("/");
  let at = copy;
  for (const key of keys.slice(0, -1)) at = at[key] as JsonObject;
  const last = keys.at(-1) as string;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

function broken(record: JsonObject, strictness: Strictness = "driver"): string {
  const judgement = registry.judge(record, strictness);
  if (judgement.ok) return "";
  const [{ pointer, rule } = { pointer: "", rule: "" }] = judgement.violations;
  return `${judgement.stage} ${pointer} ${rule}`;
}

describe("the bundled schemas", () => {
  it("accept every line that the real driver wrote, and only its SERs lack the header (S1) [ST-02, ST-06]", () => {
    const files = [
      "plain_file/trace.ser.jsonl",
      "error_midway/trace.ser.jsonl",
      "edge_values/trace.ser.jsonl",
      "rs_combinatorial_file/run_space_demo.trace.jsonl",
      "rs_by_position_dir/trace/20261115-024959_runspace-1a82dd488ce842d09320f467c8bd98c9.trace.jsonl",
      "rs_by_position_dir/trace/20261115-024959_run-0aa2957468d644c7af948c4330f6198c.ser.jsonl",
    ];
    for (const file of files) {
      for (const record of realRecords(file)) {
        const isSer = record["record_type"] === "ser";
        expect(registry.judge(record, "driver"), file).toMatchObject({ ok: true, known: true, hasHeader: !isSer });
        expect(broken(record, "document"), file).toBe(isSer ? "header  required" : "");
      }
    }
  });

  it("take a SER with the whole header to the letter [ST-03, ST-15]", () => {
    const run_id = "run-0681617ce3c740e09ad71e89e7e702e4";
    const conforming = { ...ser, run_id, timestamp: "2026-11-15T02:49:30.154Z", seq: 3 };
    expect(registry.judge(conforming, "document")).toMatchObject({ ok: true, runId: run_id, hasHeader: true });
  });

  it("take a SER for the run that its identity names, whatever its header says", () => {
    const torn = { ...ser, run_id: "other" };
    expect(registry.judge(torn, "document")).toMatchObject({ ok: true, runId: "run-0681617ce3c740e09ad71e89e7e702e4" });
  });

  it("take a SER's run id from its identity when the header has none [ST-03]", () => {
    expect(registry.judge(ser, "driver")).toMatchObject({ ok: true, runId: "run-0681617ce3c740e09ad71e89e7e702e4" });
    const nameless = registry.judge(change(ser, "identity/run_id", undefined), "driver");
    expect(registry.judge(ser, "document")).toMatchObject({
      violations: [{ message: "must have required property 'run_id'" }],
    });
    expect(nameless).toMatchObject({
      stage: "header",
      violations: [{ message: "must have required property 'run_id', in the header or at /identity/run_id" }],
    });
  });

  it.each<[string, JsonObject, string]>([
    ["a missing record_type", change(end, "record_type", undefined), "header  required"],
    ["a record_type that is no text", change(end, "record_type", 1), "header /record_type type"],
    ["a missing schema_version", change(end, "schema_version", undefined), "header  required"],
    ["schema_version 2", change(end, "schema_version", 2), "header /schema_version const"],
    ['schema_version "1"', change(end, "schema_version", "1"), "header /schema_version type"],
    ["a missing run_id", change(end, "run_id", undefined), "header  required"],
    ["a run_id that is no text", change(end, "run_id", 7), "header /run_id type"],
    ["a timestamp that is no text", change(end, "timestamp", 7), "header /timestamp type"],
  ])("refuse a header with %s [ST-03]", (_, record, expected) => {
    expect(broken(record)).toBe(expected);
  });

  it.each<[JsonValue, string]>([
    [0, ""],
    [9007199254740993n, ""],
    [-1, "header /seq minimum"],
    [1.5, "header /seq type"],
    ["1", "header /seq type"],
  ])("judge seq %s as %j [ST-05]", (seq, expected) => {
    expect(broken(change(end, "seq", seq))).toBe(expected);
  });

  it.each<[string, string]>([
    ["2026-11-15T02:48:56.995Z", ""],
    ["2026-11-15T02:48:56Z", "header /timestamp format"],
    ["2026-11-15T11:48:56.995+09:00", "header /timestamp format"],
    ["yesterday", "header /timestamp format"],
  ])("hold the timestamp %j to the letter only when asked to [ST-04]", (timestamp, expected) => {
    expect(broken(change(end, "timestamp", timestamp), "document")).toBe(expected);
    expect(broken(change(end, "timestamp", timestamp))).toBe("");
  });

  it.each<[string, JsonValue | undefined, string]>([
    ["pipeline_id", undefined, "record  required"],
    ["pipeline_id", 3, "record /pipeline_id type"],
    ["pipeline_spec_canonical", undefined, "record  required"],
    ["pipeline_spec_canonical", "x", "record /pipeline_spec_canonical type"],
    ["run_space_launch_id", 1, "record /run_space_launch_id type"],
    ["run_space_attempt", 0, "record /run_space_attempt minimum"],
    ["run_space_attempt", "1", "record /run_space_attempt type"],
    ["run_space_index", -1, "record /run_space_index minimum"],
    ["run_space_context", [], "record /run_space_context type"],
    ["meta", 1, "record /meta type"],
  ])("judge pipeline_start's %s [ST-08, ST-13]", (field, value, expected) => {
    expect(broken(change(start, field, value))).toBe(expected);
  });

  it("take every optional field of pipeline_start, and index 0 [ST-08, ST-13]", () => {
    const whole = {
      ...start,
      run_space_launch_id: "l",
      run_space_attempt: 1,
      run_space_index: 0,
      run_space_context: { lr: Number.NaN },
      meta: {},
    };
    expect(broken(whole, "document")).toBe("");
  });

  it("take pipeline_end with no summary or with any keys in it [ST-09]", () => {
    expect(broken(end, "document")).toBe("");
    expect(broken({ ...end, summary: { status: "ok", anything: [1n] } }, "document")).toBe("");
    expect(broken({ ...end, summary: "ok" })).toBe("record /summary type");
  });

  it.each<[string, JsonValue | undefined, string]>([
    ["run_space_spec_id", undefined, "record  required"],
    ["run_space_spec_id", "A".repeat(64), "record /run_space_spec_id pattern"],
    ["run_space_spec_id", "ab", "record /run_space_spec_id pattern"],
    ["run_space_inputs_id", "xyz", "record /run_space_inputs_id pattern"],
    ["run_space_inputs_id", hex, ""],
    ["run_space_launch_id", undefined, "record  required"],
    ["run_space_attempt", 0, "record /run_space_attempt minimum"],
    ["run_space_attempt", undefined, "record  required"],
    ["run_space_combine_mode", "zip", "record /run_space_combine_mode enum"],
    ["run_space_combine_mode", "combinatorial", ""],
    ["run_space_total_runs", undefined, "record  required"],
    ["run_space_total_runs", -1, "record /run_space_total_runs minimum"],
    ["run_space_max_runs_limit", -1, "record /run_space_max_runs_limit minimum"],
    ["run_space_planned_run_count", -1, "record /run_space_planned_run_count minimum"],
    ["run_space_planned_run_count", 3, ""],
    ["run_space_input_fingerprints", [{ role: "r", uri: "u" }], "record /run_space_input_fingerprints/0 required"],
    ["run_space_input_fingerprints", [{ role: "r", uri: "u", digest: { sha256: hex }, size_bytes: 3 }], ""],
    [
      "run_space_input_fingerprints",
      [{ role: "r", uri: "u", digest: { sha256: `sha256-${hex}` } }],
      "record /run_space_input_fingerprints/0/digest/sha256 pattern",
    ],
  ])("judge run_space_start's %s %j [ST-10]", (field, value, expected) => {
    expect(broken(change(launchStart, field, value))).toBe(expected);
  });

  it.each<[string, JsonValue | undefined, string]>([
    ["run_space_launch_id", undefined, "record  required"],
    ["run_space_attempt", undefined, "record  required"],
    ["run_space_attempt", 0, "record /run_space_attempt minimum"],
    ["summary", [], "record /summary type"],
    ["summary", { planned_runs: 3, completed_runs: 2, status: "failed" }, ""],
    ["summary", { emitted_runs: 3, errors: 0 }, ""],
  ])("judge run_space_end's %s %j, in the driver's words and the page's (S6) [ST-11]", (field, value, expected) => {
    expect(broken(change(launchEnd, field, value))).toBe(expected);
  });

  it.each<[string, JsonValue | undefined, string]>([
    ["identity/pipeline_id", undefined, "record /identity required"],
    ["identity/node_id", undefined, "record /identity required"],
    ["dependencies", undefined, "record  required"],
    ["dependencies/upstream", [1], "record /dependencies/upstream/0 type"],
    ["processor/ref", 1, "record /processor/ref type"],
    ["processor/parameters", undefined, "record /processor required"],
    ["processor/parameter_sources", { a: "elsewhere" }, "record /processor/parameter_sources/a enum"],
    ["processor/parameter_sources", { a: "context", b: "node", c: "default" }, ""],
    ["context_delta/read_keys", undefined, "record /context_delta required"],
    ["context_delta/key_summaries", [], "record /context_delta/key_summaries type"],
    ["assertions/preconditions", [], "record /assertions/preconditions minItems"],
    ["assertions/postconditions", [{ code: "x" }], "record /assertions/postconditions/0 required"],
    ["assertions/postconditions", [{ code: "x", result: "OK" }], "record /assertions/postconditions/0/result enum"],
    ["assertions/postconditions", [{ code: "x", result: "WARN", details: null }], ""],
    ["assertions/environment", { python: null, platform: "p" }, "record /assertions/environment required"],
    ["assertions/environment/numpy", 2, "record /assertions/environment/numpy type"],
    ["assertions/environment/numpy", null, ""],
    ["assertions/redaction_policy", undefined, "record /assertions required"],
    ["timing/wall_ms", 0.5, "record /timing/wall_ms type"],
    ["timing/cpu_ms", -1, "record /timing/cpu_ms minimum"],
    ["timing/cpu_ms", undefined, ""],
    ["timing/finished_at", undefined, "record /timing required"],
    ["status", "running", "record /status enum"],
    ["error", "text", "record /error type"],
    ["tags", undefined, ""],
    ["summaries", undefined, ""],
  ])("judge a SER's %s %j [ST-15]", (path, value, expected) => {
    expect(broken(change(ser, path, value))).toBe(expected);
  });

  it("take the words and prefixes that lines have and the page has otherwise (S13)", () => {
    const records = realRecords("plain_file/trace.ser.jsonl").filter((record) => record["record_type"] === "ser");
    const evidence = atPointer(records[1] as JsonObject, "/assertions/upstream_evidence/0/state");
    expect(evidence).toBe("completed");
    expect(atPointer(records[1] as JsonObject, "/summaries/input_data/sha256")).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(broken(change(records[1] as JsonObject, "assertions/upstream_evidence", [{ state: "succeeded" }]))).toBe("");
    expect(broken({ ...start, meta: { pipeline_config_id: "x" } })).toBe("");
  });

  it("take every detail level: no summaries, only repr, an empty repr (S15)", () => {
    expect(broken(change(ser, "summaries", undefined))).toBe("");
    expect(broken(change(ser, "summaries", { pre_context: { repr: "" }, output_data: { repr: "x" } }))).toBe("");
  });

  it("allow additional properties everywhere [ST-16]", () => {
    for (const record of [start, end, launchStart, launchEnd])
      expect(broken({ ...record, novel: { x: 1 } }, "document")).toBe("");
    expect(broken(change(change(ser, "identity/novel", 1), "timing/novel", {}))).toBe("");
  });

  it("judge numbers beyond 64 bits and non-finite numbers as numbers", () => {
    const parsed = parseJson('{"a": 123456789012345678901234567890, "b": [NaN, -Infinity, 9223372036854775807]}');
    if (!parsed.ok) throw new Error(parsed.fault.reason);
    expect(broken(change(start, "meta", parsed.value))).toBe("");
    expect(broken(change(end, "seq", (parsed.value as JsonObject)["a"]))).toBe("");
    expect(broken(change(ser, "timing/wall_ms", Number.NaN))).toBe("record /timing/wall_ms type");
  });
});

describe("createRegistry", () => {
  const added = {
    registry: { records: { node_metric: "node-metric.schema.json" } },
    schemas: {
      "node-metric.schema.json": { type: "object", required: ["value"], properties: { value: { type: "number" } } },
    },
  };

  it("learns a type from one schema and one entry [ST-07]", () => {
    const record: JsonObject = { record_type: "node_metric", schema_version: 1, run_id: "r" };
    expect(registry.judge(record, "driver")).toMatchObject({ ok: true, known: false });
    const wider = createRegistry(bundledSchemas, added);
    expect(wider.types).toContain("node_metric");
    expect(wider.judge(record, "driver")).toMatchObject({
      ok: false,
      stage: "record",
      violations: [{ rule: "required" }],
    });
    expect(wider.judge({ ...record, value: Number.NaN }, "driver")).toMatchObject({ ok: true, known: true });
    expect(wider.judge(end, "driver")).toMatchObject({ ok: true, known: true });
  });

  it("checks the header of an added type first, and finds its run id where the entry says [ST-06]", () => {
    const entry = { schema: "node-metric.schema.json", run_id_at: "/who/run" };
    const wider = createRegistry(bundledSchemas, { ...added, registry: { records: { node_metric: entry } } });
    const record: JsonObject = { record_type: "node_metric", schema_version: 1, who: { run: "r" }, value: 1 };
    expect(wider.judge(record, "driver")).toMatchObject({ ok: true, runId: "r", hasHeader: false });
    expect(wider.judge({ ...record, schema_version: 2 }, "driver")).toMatchObject({ ok: false, stage: "header" });
    expect(wider.judge(record, "document")).toMatchObject({ ok: false, stage: "header" });
  });

  it("lets an added schema refer to a bundled one and replace a bundled entry", () => {
    const mine = { $id: "mine.schema.json", $ref: "header.schema.json", required: ["timestamp"] };
    const set = { registry: { records: { pipeline_end: "mine.schema.json" } }, schemas: { "mine.schema.json": mine } };
    const judgement: Judgement = createRegistry(bundledSchemas, set).judge(end, "driver");
    expect(judgement).toMatchObject({
      ok: false,
      violations: [{ message: "must have required property 'timestamp'" }],
    });
  });

  it("does not take what every object inherits for a property of the record", () => {
    const schema = { type: "object", required: ["constructor"], properties: { toString: { type: "string" } } };
    const set = { registry: { records: { odd: "odd.json" } }, schemas: { "odd.json": schema } };
    const odd = createRegistry(bundledSchemas, set);
    const record: JsonObject = { record_type: "odd", schema_version: 1, run_id: "r" };
    expect(odd.judge(record, "driver")).toMatchObject({ ok: false, violations: [{ rule: "required" }] });
    expect(odd.judge({ ...record, constructor: 1 } as unknown as JsonObject, "driver")).toMatchObject({ ok: true });
  });

  it("names every broken rule when asked, up to a limit", () => {
    const worst = { ...launchStart, run_space_attempt: 0, run_space_total_runs: -1, run_space_combine_mode: "x" };
    expect(registry.judge(worst, "driver")).toMatchObject({ violations: { length: 1 } });
    expect(registry.judge(worst, "driver", true)).toMatchObject({ violations: { length: 3 } });
    const endless = change(
      ser,
      "dependencies/upstream",
      Array.from({ length: 1000 }, (_, i) => i),
    );
    expect(registry.judge(endless, "driver", true)).toMatchObject({ violations: { length: violationsMax } });
  });

  it("says which allowed values there are", () => {
    expect(registry.judge(change(ser, "status", "ok"), "driver")).toMatchObject({
      violations: [{ message: 'must be one of "succeeded", "error", "skipped", "cancelled"' }],
    });
  });

  it.each([
    [{ registry: { records: { x: "gone.schema.json" } }, schemas: {} }, "no such schema"],
    [{ registry: { records: { x: "x.json" } }, schemas: { "x.json": { type: "nonsense" } } }, "x.json cannot be used"],
    [{ registry: { records: { x: "x.json" } }, schemas: { "x.json": { $ref: "y.json" } } }, "x.json cannot be used"],
  ])("refuses a set that cannot work when it is loaded", (set, message) => {
    expect(() => createRegistry(bundledSchemas, set)).toThrow(RegistryError);
    expect(() => createRegistry(bundledSchemas, set)).toThrow(message);
  });

  it("needs a header schema", () => {
    expect(() => createRegistry(added)).toThrow("no registry names a header schema");
  });
});
