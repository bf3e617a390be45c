// The tables of the Trace Stream v1 page, read by hand and without a schema, beside what our schemas say of the same
// records: random ones, right and wrong in any of their fields.

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
const isFingerprints: Check = (value) => Array.isArray(value);

interface Row {
  readonly isRequired: boolean;
  readonly check: Check;
  readonly good: JsonValue;
}

const yes = (check: Check, good: JsonValue): Row => ({ isRequired: true, check, good });
const no = (check: Check, good: JsonValue): Row => ({ isRequired: false, check, good });

const header: Readonly<Record<string, Row>> = {
  schema_version: yes((value) => value === 1, 1),
  run_id: yes(isName, "r"),
  timestamp: no(isTime, "2026-11-15T02:48:56.995Z"),
  seq: no(atLeast(0), 7),
};
const launch = { run_space_launch_id: yes(isName, "l"), run_space_attempt: yes(atLeast(1), 1) };

const tables: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
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
    run_space_input_fingerprints: no(isFingerprints, []),
  },
  run_space_end: { ...launch, summary: no(isObject, {}) },
};

const odd: readonly JsonValue[] = [
  ...[null, true, "", "x", "combinatorial", "2026-11-15T02:48:56Z", "A".repeat(64), "b".repeat(64)],
  ...[-1, 0, 1, 2, 1.5, [], {}, 1e300],
];

const registry = createRegistry(bundledSchemas);

test.each(Object.keys(tables))("judges %s as the page's tables do, right or wrong in any field", (type) => {
  const rows: Readonly<Record<string, Row>> = { ...header, ...tables[type] };
  // Of each field: as it should be, missing, or something else.
  const fields = Object.entries(rows).map(([name, { good }]) => {
    const given = fc.oneof(
      { weight: 8, arbitrary: fc.constant<JsonValue | undefined>(good) },
      { weight: 1, arbitrary: fc.constant<JsonValue | undefined>(undefined) },
      { weight: 1, arbitrary: fc.constantFrom<JsonValue | undefined>(...odd) },
    );
    return given.map((value) => [name, value] as const);
  });
  const verdicts = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(fc.tuple(...fields), fc.boolean(), (members, hasMore) => {
      const record: JsonObject = { record_type: type, ...(hasMore ? { added_later: { any: [1] } } : {}) };
      for (const [name, value] of members) if (value !== undefined) record[name] = value;
      const isRight = Object.entries(rows).every(([name, { isRequired, check }]) =>
        Object.hasOwn(record, name) ? check(record[name] as JsonValue) : !isRequired,
      );
      verdicts[isRight ? "right" : "wrong"]++;
      expect([registry.judge(record, "document").ok, JSON.stringify(record)]).toEqual([
        isRight,
        JSON.stringify(record),
      ]);
    }),
    { numRuns: 2000 },
  );
  // Both were met, so that neither side could say the same of everything.
  expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(50);
});
