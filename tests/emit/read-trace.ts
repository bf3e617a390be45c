// A reader of Semantiva trace streams written from the page and the SER field list alone, and strict.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

// biome-ignore lint/suspicious/noExplicitAny: a record's shape is what the checks below establish.
export type ReadRecord = any;

const hex64 = /^[0-9a-f]{64}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isCount = (value: unknown, least: number) => Number.isSafeInteger(value) && (value as number) >= least;

export function readTrace(path: string): ReadRecord[] {
  const text = readFileSync(path, "utf8");
  assert.ok(text.endsWith("\n"), "the last line is whole");
  const records = text
    .slice(0, -1)
    .split("\n")
    .map((line) => checkRecord(JSON.parse(line)));
  return records;
}

function checkRecord(record: ReadRecord): ReadRecord {
  checkHeader(record);
  const check = checks[record.record_type];
  assert.ok(check, `record type ${record.record_type}`);
  check(record);
  return record;
}

function checkHeader(record: ReadRecord): void {
  assert.equal(typeof record.record_type, "string");
  assert.equal(record.schema_version, 1);
  assert.ok(typeof record.run_id === "string" && record.run_id !== "");
  if (record.record_type === "ser") return;
  assert.match(record.timestamp, time, "lifecycle records always have a time");
  assert.ok(Math.abs(Date.parse(record.timestamp) - Date.now()) < 60_000, "and it is UTC for real");
  assert.ok(isCount(record.seq, 0));
}

function only(record: object, required: string[], optional: string[]): void {
  for (const key of required) assert.ok(key in record, `field ${key} is required`);
  for (const key of Object.keys(record)) assert.ok(required.includes(key) || optional.includes(key), `field ${key}`);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const header = ["record_type", "schema_version", "run_id", "timestamp", "seq"];

const checks: Record<string, (record: ReadRecord) => void> = {
  pipeline_start(record) {
    only(
      record,
      [...header, "pipeline_id", "pipeline_spec_canonical"],
      ["run_space_launch_id", "run_space_attempt", "run_space_index", "run_space_context", "meta"],
    );
    assert.equal(typeof record.pipeline_id, "string");
    assert.ok(isObject(record.pipeline_spec_canonical));
    if (record.run_space_launch_id !== undefined) {
      assert.equal(typeof record.run_space_launch_id, "string");
      assert.ok(isCount(record.run_space_attempt, 1), "both parts of the key");
    }
    if (record.run_space_index !== undefined) assert.ok(isCount(record.run_space_index, 0));
    for (const key of ["run_space_context", "meta"])
      if (record[key] !== undefined) assert.ok(isObject(record[key]), key);
  },
  pipeline_end(record) {
    only(record, header, ["summary"]);
    if (record.summary !== undefined) assert.ok(isObject(record.summary));
  },
  run_space_start(record) {
    only(
      record,
      [
        ...header,
        "run_space_spec_id",
        "run_space_launch_id",
        "run_space_attempt",
        "run_space_combine_mode",
        "run_space_total_runs",
      ],
      [
        "run_space_inputs_id",
        "run_space_max_runs_limit",
        "run_space_planned_run_count",
        "run_space_input_fingerprints",
      ],
    );
    assert.match(record.run_space_spec_id, hex64);
    if (record.run_space_inputs_id !== undefined) assert.match(record.run_space_inputs_id, hex64);
    assert.equal(typeof record.run_space_launch_id, "string");
    assert.ok(isCount(record.run_space_attempt, 1));
    assert.ok(["combinatorial", "by_position"].includes(record.run_space_combine_mode));
    for (const key of ["run_space_total_runs", "run_space_max_runs_limit", "run_space_planned_run_count"])
      if (record[key] !== undefined) assert.ok(isCount(record[key], 0), key);
    for (const input of record.run_space_input_fingerprints ?? []) {
      only(input, ["role", "uri", "digest"], ["size_bytes"]);
      assert.match(input.digest.sha256, hex64);
    }
  },
  run_space_end(record) {
    only(record, [...header, "run_space_launch_id", "run_space_attempt"], ["summary"]);
    assert.ok(isCount(record.run_space_attempt, 1));
  },
  ser(record) {
    only(
      record,
      [
        "record_type",
        "schema_version",
        "run_id",
        "identity",
        "dependencies",
        "processor",
        "context_delta",
        "assertions",
        "timing",
        "status",
      ],
      ["error", "tags", "summaries"],
    );
    only(record.identity, ["run_id", "pipeline_id", "node_id"], []);
    assert.equal(record.identity.run_id, record.run_id);
    assert.ok(record.dependencies.upstream.every((id: unknown) => typeof id === "string"));
    only(record.processor, ["ref", "parameters", "parameter_sources"], []);
    for (const source of Object.values(record.processor.parameter_sources))
      assert.ok(["context", "node", "default"].includes(source as string));
    only(record.context_delta, ["read_keys", "created_keys", "updated_keys", "key_summaries"], []);
    checkAssertions(record.assertions);
    only(record.timing, ["started_at", "finished_at", "wall_ms"], ["cpu_ms"]);
    assert.match(record.timing.started_at, time);
    assert.match(record.timing.finished_at, time);
    assert.ok(isCount(record.timing.wall_ms, 0));
    if (record.timing.cpu_ms !== undefined) assert.ok(isCount(record.timing.cpu_ms, 0));
    assert.ok(["succeeded", "error", "skipped", "cancelled"].includes(record.status));
    for (const key of ["error", "tags", "summaries"]) if (record[key] !== undefined) assert.ok(isObject(record[key]));
  },
};

function checkAssertions(assertions: ReadRecord): void {
  assert.ok(assertions.preconditions.length >= 1);
  assert.ok(assertions.postconditions.length >= 1);
  for (const check of [...assertions.preconditions, ...assertions.postconditions, ...assertions.invariants]) {
    only(check, ["code", "result"], ["details"]);
    assert.ok(["PASS", "WARN", "FAIL"].includes(check.result));
  }
  for (const key of ["python", "platform", "semantiva"]) assert.ok(key in assertions.environment);
  for (const value of Object.values(assertions.environment)) assert.ok(value === null || typeof value === "string");
  assert.ok(isObject(assertions.redaction_policy));
}
