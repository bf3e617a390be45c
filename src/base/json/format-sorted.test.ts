import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteWriter } from "#base/byte-writer.ts";
import { countPauses } from "#base/turns.testing.ts";
import { atOnce } from "#base/turns.ts";
import { formatJson } from "./format.ts";
import { formatSorted } from "./format-sorted.ts";
import { type JsonObject, type JsonValue, NumberText } from "./value.ts";

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The same in the plainest way. */
function toSorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(toSorted);
  if (value === null || typeof value !== "object" || value instanceof NumberText) return value;
  const keys = Object.keys(value).sort((a, b) => (Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 ? -1 : 1));
  return Object.fromEntries(keys.map((key) => [key, toSorted(value[key] as JsonValue)]));
}

test("members stand in one order whatever order they came in, and each value can be found", () => {
  const value = { b: [1, { d: -0, c: Number.NaN }], "10": "é\n", "9": null, a: 2n ** 60n, A: new NumberText("1e400") };
  const members = new Map<string, string>();
  const text = atOnce(
    formatSorted(value, new ByteWriter(0), (key, _, bytes, from, to) =>
      members.set(key, decode(bytes.subarray(from, to))),
    ),
  );
  expect(decode(text)).toBe('{"9":null,"10":"é\\n","A":1e400,"a":1152921504606846976,"b":[1,{"c":"NaN","d":-0}]}');
  expect(members.get("b")).toBe('[1,{"c":"NaN","d":-0}]');
  expect(members.size).toBe(5);
});

test("any object is written as it is when its keys are sorted first, also over what was written before", () => {
  const writer = new ByteWriter(0);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (object) => {
      const value = { ...object } as JsonObject;
      expect(decode(atOnce(formatSorted(value, writer)))).toBe(formatJson(toSorted(value), "strict"));
    }),
  );
});

test("many keys, a long list and a long text are written with pauses", () => {
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${(i * 7919) % 20_000}`, i]));
  const list = Array.from({ length: 50_000 }, (_, i) => i / 4);
  const value: JsonObject = { keys, list, text: "x\n".repeat(1 << 20) };
  const { value: sorted, pauses } = countPauses(formatSorted(value, new ByteWriter(0)));
  expect(decode(sorted)).toBe(formatJson(toSorted(value), "strict"));
  expect(pauses).toBeGreaterThan(30);
});
