import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeText } from "#base/json/text.ts";
import { NumberText } from "#base/json/value.ts";
import { encodeRecord, type TraceRecord } from "./encode.ts";
import { toInputsId, toLaunchId, toPlanId } from "./identities.ts";
import { formatPythonFloat, PythonFloat, type PythonValue } from "./python-json.ts";

const decoder = new TextDecoder();

/** A line as the values Python had: floats told from integers by their text, which JSON.parse cannot. */
function readPython(bytes: Uint8Array): PythonValue {
  const cursor = new JsonCursor(bytes);
  const value = readValue(cursor);
  cursor.finish();
  return value;
}

function readValue(cursor: JsonCursor): PythonValue {
  const kind = cursor.peek();
  const text = () => decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
  if (kind === jsonKind.object) {
    const object: Record<string, PythonValue> = {};
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const key = text();
      object[key] = readValue(cursor);
    }
    return object;
  }
  if (kind === jsonKind.array) {
    const items: PythonValue[] = [];
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) items.push(readValue(cursor));
    return items;
  }
  cursor.passScalar(kind);
  if (kind === jsonKind.string) return text();
  if (kind === jsonKind.number) {
    return cursor.form === numberForm.integer ? new NumberText(text()) : new PythonFloat(Number(text()));
  }
  return kind === jsonKind.null ? null : kind === jsonKind.true;
}

describe("encodeRecord", () => {
  it.each([
    "plain_file/trace.ser.jsonl",
    "error_midway/trace.ser.jsonl",
    "edge_values/trace.ser.jsonl",
    "rs_combinatorial_file/run_space_demo.trace.jsonl",
  ])("writes the lines of %s byte for byte as the driver did (S18) [ST-01, ST-02]", (file) => {
    for (const line of readFileSync(`tests/fixtures/semantiva/${file}`, "latin1").trimEnd().split("\n")) {
      const record = readPython(Buffer.from(line)) as TraceRecord;
      expect(decoder.decode(encodeRecord(record))).toBe(`${line}\n`);
    }
  });

  it("writes ASCII alone, half a surrogate pair too, and leaves out what is undefined", () => {
    const line = decoder.decode(encodeRecord({ record_type: "é🚀\ud800\u007f", b: undefined, a: [1, 1.5, -0] }));
    expect(line).toBe('{"a": [1, 1.5, -0.0], "record_type": "\\u00e9\\ud83d\\ude80\\ud800\\u007f"}\n');
  });

  it("writes what reads back as the same values", () => {
    const keys = fc.string({ unit: "binary" }).filter((key) => key !== "__proto__");
    const leaf = fc.oneof(fc.string(), fc.double(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(keys, fc.oneof(leaf, fc.array(leaf))), (record) => {
        const parsed = parseJson(encodeRecord({ ...record, record_type: "x" }));
        expect(parsed).toMatchObject({ ok: true, value: { ...record, record_type: "x" } });
      }),
    );
  });
});

it.each([
  [1, "1.0"],
  [-2.5, "-2.5"],
  [0, "0.0"],
  [-0, "-0.0"],
  [0.0001, "0.0001"],
  [0.00001, "1e-05"],
  [1.5e-7, "1.5e-07"],
  [123456789, "123456789.0"],
  [1e15, "1000000000000000.0"],
  [9007199254740992, "9007199254740992.0"],
  [1e16, "1e+16"],
  [1.2345678901234568e17, "1.2345678901234568e+17"],
  [1e22, "1e+22"],
  [5e-324, "5e-324"],
  [1.7976931348623157e308, "1.7976931348623157e+308"],
  [Number.NaN, "NaN"],
  [Number.NEGATIVE_INFINITY, "-Infinity"],
])("prints the float %s as Python does: %s", (value, expected) => {
  expect(formatPythonFloat(value)).toBe(expected);
});

// The expected hashes were computed with Python's hashlib and json.dumps.
describe("run-space identities", () => {
  const spec = {
    max_runs: 1000,
    combine: "combinatorial",
    blocks: [{ mode: "by_position", context: { lr: [new PythonFloat(1), 0.5], name: ["é", "a\r\nb\rc"] } }],
  };

  it("hashes the plan over sorted compact JSON with Python's floats and unix line ends", () => {
    expect(toPlanId(spec)).toBe("1c6c264a36fe411f867504319167775eee11e2ee41dabc1f1ab530ccb1b20402");
  });

  it("hashes the inputs in the code's JSON form, sorted by role and uri, and has none without inputs (S12)", () => {
    const inputs = [
      { role: "b", uri: "file:///x.csv", sha256: "0".repeat(64) },
      { role: "a", uri: "file:///z.csv", sha256: "1".repeat(64), sizeBytes: 12 },
      { role: "a", uri: "file:///y.csv", sha256: "2".repeat(64), sizeBytes: 0 },
    ];
    expect(toInputsId("f".repeat(64), inputs)).toBe("824232b8095a7aab9d6d154aecfe48fc9bb0f752a8813e4b557e13a2e4822c57");
    expect(toInputsId("f".repeat(64), [])).toBeUndefined();
  });

  it("derives a launch id from the idempotency key, else takes the given one, else makes a UUID (S10, S12)", () => {
    const planId = "f".repeat(64);
    expect(toLaunchId({ planId, idempotencyKey: "k", launchId: "launch-A" })).toBe(
      "474252b1414933521122ad5925580fd2c27e1d3d8121851bc6cbe14393af6c5c",
    );
    expect(toLaunchId({ planId, inputsId: "e".repeat(64), idempotencyKey: "k" })).toBe(
      "21a719acf7c2ef048f1ad32fa28588fdfd776c10de454b69ebb7902a834916a4",
    );
    expect(toLaunchId({ planId, launchId: "launch-A" })).toBe("launch-A");
    expect(toLaunchId({ planId })).toMatch(/^[0-9a-f]{32}$/);
    expect(toLaunchId({ planId })).not.toBe(toLaunchId({ planId }));
  });
});
