// The tables of the Trace Stream v1 page and of the Semantic Execution Record, read by hand and without a schema, beside
// what our schemas say of the same records: random ones, right and wrong in any of their fields, at any depth.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "#base/json/value.ts";
import { bundledSchemas } from "./bundled.ts";
import { createRegistry } from "./registry.ts";

type Check = (value: JsonValue) => boolean;

const isText: Check = (value) => typeof value === "string";
const isName: Check = (value) => typeof value === "string" && value !== "";
const isHex: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const atLeast =
  (least: number): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least;
const isTime: Check = (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const isMode: Check = (value) => value === "combinatorial" || value === "by_position";
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...words: JsonValue[]): Check =>
  (value) =>
    words.includes(value);
const valuesAre =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value as JsonObject).every(check);

/** A field; one with rows of its own is an object. */
interface Row {
  readonly isRequired: boolean;
  readonly check: Check;
  readonly good: JsonValue;
  readonly rows?: Table;
}
type Table = Readonly<Record<string, Row>>;

const yes = (check: Check, good: JsonValue): Row => ({ isRequired: true, check, good });
const no = (check: Check, good: JsonValue): Row => ({ isRequired: false, check, good });
const part = (rows: Table): Row => ({ isRequired: true, check: (value) => isRight(value, rows), good: {}, rows });

function isRight(value: JsonValue, rows: Table): boolean {
  if (!isObject(value)) return false;
  const record = value as JsonObject;
  return Object.entries(rows).every(([name, { isRequired, check }]) =>
    Object.hasOwn(record, name) ? check(record[name] as JsonValue) : !isRequired,
  );
}

const header: Table = {
  schema_version: yes((value) => value === 1, 1),
  run_id: yes(isName, "r"),
  timestamp: no(isTime, "2026-11-15T02:48:56.995Z"),
  seq: no(atLeast(0), 7),
};
const launch = { run_space_launch_id: yes(isName, "l"), run_space_attempt: yes(atLeast(1), 1) };

const isCheck: Check = (value) =>
  isRight(value, {
    code: yes(isText, ""),
    result: yes(oneOf("PASS", "WARN", "FAIL"), ""),
    details: no((details) => details === null || isObject(details), ""),
  });
const isChecks: Check = (value) => listOf(isCheck)(value) && (value as JsonValue[]).length > 0;
const isPin: Check = (value) => value === null || isText(value);
const checks = [{ code: "c", result: "PASS" }];

const ser: Table = {
  identity: part({ run_id: yes(isName, "r"), pipeline_id: yes(isText, "p"), node_id: yes(isName, "n") }),
  dependencies: part({ upstream: yes(listOf(isText), []) }),
  processor: part({
    ref: yes(isText, "abc.Source"),
    parameters: yes(isObject, { lr: 0.1 }),
    parameter_sources: yes(valuesAre(oneOf("context", "node", "default")), { lr: "node" }),
  }),
  context_delta: part({
    read_keys: yes(listOf(isText), ["a"]),
    created_keys: yes(listOf(isText), []),
    updated_keys: yes(listOf(isText), []),
    key_summaries: yes(isObject, {}),
  }),
  assertions: part({
    preconditions: yes(isChecks, checks),
    postconditions: yes(isChecks, checks),
    invariants: yes(Array.isArray, []),
    environment: part({ python: yes(isPin, "3.11"), platform: yes(isPin, "l"), semantiva: yes(isPin, null) }),
    redaction_policy: yes(isObject, {}),
  }),
  timing: part({
    started_at: yes(isTime, "2026-11-15T02:48:56.995Z"),
    finished_at: yes(isTime, "2026-11-15T02:48:57.000Z"),
    wall_ms: yes(atLeast(0), 5),
    cpu_ms: no(atLeast(0), 5),
  }),
  status: yes(oneOf("succeeded", "error", "skipped", "cancelled"), "succeeded"),
  error: no(isObject, { type: "ValueError", message: "" }),
  tags: no(isObject, {}),
  summaries: no(isObject, {}),
};

const tables: Readonly<Record<string, Table>> = {
  pipeline_start: {
    pipeline_id: yes(isText, "p"),
    pipeline_spec_canonical: yes(isObject, { nodes: [] }),
    run_space_launch_id: no(isText, "l"),
    run_space_attempt: no(atLeast(1), 2),
    run_space_index: no(atLeast(0), 0),
    run_space_context: no(isObject, {}),
    meta: no(isObject, { a: 1 }),
  },
  pipeline_end: { summary: no(isObject, { ok: 1 }) },
  run_space_start: {
    ...launch,
    run_space_spec_id: yes(isHex, "a".repeat(64)),
    run_space_inputs_id: no(isHex, "0".repeat(64)),
    run_space_combine_mode: yes(isMode, "by_position"),
    run_space_total_runs: yes(atLeast(0), 0),
    run_space_max_runs_limit: no(atLeast(0), 3),
    run_space_planned_run_count: no(atLeast(0), 3),
    // None of the odd lists is one of fingerprints.
    run_space_input_fingerprints: no((value) => Array.isArray(value) && value.length === 0, []),
  },
  run_space_end: { ...launch, summary: no(isObject, {}) },
  ser,
};

const odd: readonly JsonValue[] = [
  ...[null, true, "", "x", "combinatorial", "2026-11-15T02:48:56Z", "A".repeat(64), "b".repeat(64)],
  ...[-1, 0, 1, 2, 1.5, [], {}, 1e300, [1], ["a"], { a: "default" }, { a: "elsewhere" }, "error"],
  ...[[{ code: "c", result: "FAIL", details: null }], [{ code: "c" }], [{ code: "c", result: "OK" }]],
];

/** Objects with each field as it should be, missing, or something else. */
function recordsOf(rows: Table): fc.Arbitrary<JsonObject> {
  const members = Object.entries(rows).map(([name, { good, rows: own }]) =>
    fc
      .oneof(
        { weight: 40, arbitrary: own === undefined ? fc.constant(good) : recordsOf(own) },
        { weight: 1, arbitrary: fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constantFrom(...odd) },
      )
      .map((value) => [name, value] as const),
  );
  return fc.tuple(fc.tuple(...members), fc.integer({ min: 0, max: 9 })).map(([pairs, dice]) => {
    const record: JsonObject = dice === 0 ? { added_later: "1" } : {};
    for (const [name, value] of pairs) if (value !== undefined) record[name] = value;
    return record;
  });
}

const registry = createRegistry(bundledSchemas);

test.each(Object.keys(tables))("judges %s as its tables do, right or wrong in any field [ST-15, ST-16]", (type) => {
  const rows: Table = { ...header, ...tables[type] };
  const verdicts = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(recordsOf(rows), (members) => {
      const record: JsonObject = { record_type: type, ...members };
      const expected = isRight(record, rows);
      verdicts[expected ? "right" : "wrong"]++;
      expect([registry.judge(record, "document").ok, JSON.stringify(record)]).toEqual([
        expected,
        JSON.stringify(record),
      ]);
    }),
    { numRuns: 3000 },
  );
  // Both were met, so that neither side could say the same of everything.
  expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(50);
});
