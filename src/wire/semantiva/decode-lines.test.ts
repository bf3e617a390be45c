import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { parseJson } from "#base/json/parse.ts";
import { countPauses } from "#base/turns.testing.ts";
import { bundledSchemas } from "./bundled.ts";
import { decodeLines, gatherLines } from "./decode-lines.testing.ts";
import { createRegistry } from "./registry.ts";

const registry = createRegistry(bundledSchemas);
const line = (run: string, size: number) =>
  `{"record_type":"pipeline_end","schema_version":1,"run_id":"${run}","summary":{"pad":"${"x".repeat(size)}"}}\n`;

it("offers pauses between lines and within a long one, and reads them as it does at once", () => {
  const text = [line("a", 10), line("b", 5 << 20), line("c", 10), "torn"].join("");
  const source = { body: Buffer.from(text), file: "", firstLine: 1, offset: 0 };
  const { value, pauses } = countPauses(gatherLines(source, registry));
  const { taken, faulty } = value;
  expect(taken.map(({ message }) => message.runId)).toEqual(["a", "b", "c"]);
  expect(taken.map(({ bytes, digest }) => hash("sha256", bytes, "hex") === digest)).toEqual([true, true, true]);
  expect(faulty.map(({ fault }) => fault.code)).toEqual(["line_torn"]);
  const atOnce = decodeLines(source, registry);
  expect(atOnce.taken.map(({ message, digest, at }) => [message.runId, digest, at])).toEqual(
    taken.map(({ message, digest, at }) => [message.runId, digest, at]),
  );
  expect(pauses).toBeGreaterThan(8);
});

it("reads a list of many values with pauses, and whatever else a long line holds", () => {
  const numbers = Array.from({ length: 300_000 }, (_, i) => i / 4).join(", ");
  const summary = `{"list":[${numbers}],"__proto__":{"a":[NaN,1e400,9007199254740993]},"a":1,"a":{"b":[[],{}]}}`;
  const text = `{"record_type":"pipeline_end","schema_version":1,"run_id":"r","summary":${summary}}\n`;
  const source = { body: Buffer.from(text), file: "", firstLine: 1, offset: 0 };
  const { value, pauses } = countPauses(gatherLines(source, registry));
  expect(value.taken.map(({ message }) => message)).toEqual([
    { type: "pipeline_end", known: true, runId: "r", hasHeader: true, ...read(text.trim()) },
  ]);
  expect(pauses).toBeGreaterThan(300_000 / 4096);
});

function read(text: string) {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.fault.reason);
  return { record: parsed.value, oddities: parsed.oddities };
}
