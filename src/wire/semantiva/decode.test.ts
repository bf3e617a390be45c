import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atPointer } from "#base/json/pointer.ts";
import { NumberText, oddity } from "#base/json/value.ts";
import { bundledSchemas } from "./bundled.ts";
import { type DecodeOptions, decodeLine, type LineFault } from "./decode.ts";
import { createRegistry } from "./registry.ts";

const registry = createRegistry(bundledSchemas);
const encoder = new TextEncoder();

function decode(line: string | Uint8Array, options?: DecodeOptions) {
  return decodeLine(typeof line === "string" ? encoder.encode(line) : line, registry, options);
}

function faultOf(line: string | Uint8Array, options?: DecodeOptions): LineFault {
  const decoded = decode(line, options);
  if (decoded.ok) throw new Error("the line was accepted");
  return decoded.faults[0];
}

const endLine = '{"record_type": "pipeline_end", "run_id": "r", "schema_version": 1, "seq": 2}';

describe("decodeLine", () => {
  it("reads a line of each type that the driver writes [ST-02]", () => {
    const lines = readFileSync("tests/fixtures/semantiva/rs_combinatorial_file/run_space_demo.trace.jsonl", "utf8");
    const types = new Set<string>();
    for (const line of lines.trimEnd().split("\n")) {
      const decoded = decode(line);
      expect(decoded.ok).toBe(true);
      if (decoded.ok) types.add(decoded.message.type);
    }
    expect([...types].sort()).toEqual(["pipeline_end", "pipeline_start", "run_space_end", "run_space_start", "ser"]);
  });

  it("reads the literals and integers that strict JSON has not, without loss", () => {
    const lines = readFileSync("tests/fixtures/semantiva/edge_values/trace.ser.jsonl", "utf8").trimEnd().split("\n");
    const decoded = decode(lines[2] as string);
    if (!decoded.ok) throw new Error(decoded.faults[0].detail);
    expect(decoded.message.oddities).toBe(oddity.nonFinite | oddity.bigInteger);
    expect(atPointer(decoded.message.record, "/processor/parameters")).toEqual({
      a: Number.NaN,
      b: Number.POSITIVE_INFINITY,
      c: Number.NEGATIVE_INFINITY,
      d: new NumberText("123456789012345678901234567890"),
    });
    expect(lines.map((line) => decode(line).ok)).not.toContain(false);
  });

  it("keeps a record of a type it does not know", () => {
    const decoded = decode('{"record_type": "novel", "schema_version": 1, "run_id": "r", "x": {}}');
    expect(decoded).toMatchObject({ ok: true, message: { type: "novel", known: false, runId: "r" } });
  });

  it("names the pointer, the rule and the byte of what is wrong", () => {
    const line = '{"run_id": "r", "schema_version": 1, "record_type": "pipeline_end", "summary": "é"}';
    expect(faultOf(line)).toEqual({
      code: "semantiva_schema",
      detail: "pipeline_end /summary must be object (type)",
      offset: line.indexOf('"é"'),
      pointer: "/summary",
      rule: "type",
      runId: "r",
    });
    expect(faultOf('{"record_type": "pipeline_end", "run_id": "r"}')).toMatchObject({
      code: "semantiva_header",
      detail: "pipeline_end must have required property 'schema_version' (required)",
      offset: 0,
    });
  });

  it("names all broken rules when asked", () => {
    const line = '{"record_type":"pipeline_start","run_id":"r","schema_version":1,"pipeline_id":1,"meta":2}';
    const decoded = decode(line, { all: true });
    expect(decoded.ok ? [] : decoded.faults.map((fault) => `${fault.pointer} ${fault.rule}`)).toEqual([
      " required",
      "/pipeline_id type",
      "/meta type",
    ]);
  });

  it.each([
    ['{"a": 1', "line_not_json", 7],
    [endLine.slice(0, 40), "line_not_json", 40],
    [`${endLine} x`, "line_not_json", endLine.length + 1],
    ["\0\0\0", "line_not_json", 0],
    ["{'a': 1}", "line_not_json", 1],
    ["[1]", "line_not_object", 0],
    ["null", "line_not_object", 0],
    ["123456789012345678901234567890", "line_not_object", 0],
  ])("reports %j with its place", (line, code, offset) => {
    expect(faultOf(line)).toMatchObject({ code, offset });
  });

  it("reports invalid UTF-8 with its place", () => {
    const line = Uint8Array.of(...encoder.encode('{"a":"'), 0xff, ...encoder.encode('"}'));
    expect(faultOf(line)).toMatchObject({ code: "line_not_json", detail: "invalid UTF-8", offset: 6 });
  });

  it("stops at deep nesting instead of exhausting the stack", () => {
    expect(faultOf(`{"a":${"[".repeat(200_000)}`)).toMatchObject({ code: "line_too_deep" });
    expect(faultOf(`{"a":${'{"a":'.repeat(200_000)}`)).toMatchObject({ code: "line_too_deep" });
  });

  it("says whose a broken record is, and that a launch's line is no run's", () => {
    expect(faultOf('{"record_type":"ser","schema_version":2,"identity":{"run_id":"r"}}').runId).toBe("r");
    expect(faultOf('{"record_type":"run_space_end","schema_version":1,"run_id":"l"}').runId).toBe("");
    expect(faultOf('{"run_id":7}').runId).toBe("");
  });

  it("is not led astray by keys that objects inherit", () => {
    expect(decode('{"record_type":"constructor","schema_version":1,"run_id":"r"}')).toMatchObject({
      message: { known: false },
    });
    expect(faultOf('{"__proto__":{"record_type":"pipeline_end","schema_version":1,"run_id":"r"}}').code).toBe(
      "semantiva_header",
    );
  });

  it("never throws, whatever the bytes", () => {
    const real = readFileSync("tests/fixtures/semantiva/error_midway/trace.ser.jsonl").subarray(0, 2000);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decode(bytes)).toHaveProperty("ok");
      }),
    );
    fc.assert(
      fc.property(fc.nat(1999), fc.nat(255), fc.nat(1999), (at, byte, end) => {
        const bytes = new Uint8Array(real.subarray(0, end));
        if (at < end) bytes[at] = byte;
        expect(decode(bytes, { all: true })).toHaveProperty("ok");
      }),
    );
  });
});
