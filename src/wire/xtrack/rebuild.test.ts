import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import { decodeAll, rebuildAll } from "./decode-cases.testing.ts";

const read = (text: string): JsonValue => {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.fault.reason);
  return parsed.value;
};
/** Objects are equal whatever the order of their keys, numbers whatever their writing; -0 is not 0. */
const sorted = (value: JsonValue): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === "number") return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (value instanceof NumberText) return BigInt(value.text);
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value).sort();
  return keys.map((name) => [name, sorted(value[name] as JsonValue)]);
};

it("gives back every value of the recorded events", () => {
  const file = new URL("../../../tests/fixtures/xtrack/file_full/events.ndjson", import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const { columns, outcomes } = decodeAll(lines);
  expect(new Set(outcomes)).toEqual(new Set(["event"]));
  expect(rebuildAll(columns).map((text) => sorted(read(text)))).toEqual(lines.map((text) => sorted(read(text))));
});

const odd = fc.oneof(
  fc.constantFrom(
    "NaN",
    "-Infinity",
    "1180591620717411303424",
    "9007199254740993",
    "-0.0",
    "1.50",
    "5e-324",
    '"\\ud800"',
  ),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
);
const key = fc.oneof(
  fc.constantFrom('"loss"', '"\\udc00x"', '""'),
  fc.string().map((text) => JSON.stringify(text)),
);
const maybe = (name: string, value: fc.Arbitrary<string>) =>
  fc.option(value, { nil: undefined }).map((text) => (text === undefined ? "" : `,"${name}":${text}`));
const object = fc
  .array(fc.tuple(key, odd), { maxLength: 3 })
  .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(",")}}`);
const m = fc
  .tuple(fc.nat(), fc.nat(), maybe("wid", fc.constantFrom('"w0"', '""', "3", "null")), maybe("boot", odd))
  .map(([seq, ts, wid, boot]) => `{"seq":${seq},"ts":${ts}${wid}${boot}}`);
const runId = fc.constantFrom('"r"', '"\\ud800"', "7", '{"id":"r","exp_id":null}');
const ctx = fc
  .tuple(fc.constantFrom('"phase":"train"', '"phase":""', '"phase":null', '"a":1'), maybe("batch_size", odd))
  .map(([phase, rest]) => `{${phase}${rest}}`);
const metric = fc
  .tuple(
    runId,
    key,
    odd,
    maybe("step", odd),
    maybe("epoch", odd),
    maybe("ctx", fc.oneof(ctx, fc.constantFrom("{}", "null"))),
    maybe("new", odd),
  )
  .map(([run, name, value, ...rest]) => ["metric", `{"run_id":${run},"key":${name},"value":${value}${rest.join("")}}`]);
const batch = fc
  .tuple(runId, object, maybe("step", odd), maybe("epoch", odd), maybe("ctx", ctx), maybe("new", odd))
  .map(([run, metrics, ...rest]) => ["metric_batch", `{"run_id":${run},"metrics":${metrics}${rest.join("")}}`]);
const param = fc
  .tuple(runId, key, odd, maybe("nested_key", fc.constantFrom('["a","b.c"]', "[1,null]", "[]", "null")))
  .map(([run, name, value, nested]) => ["param", `{"run_id":${run},"key":${name},"value":${value}${nested}}`]);
const log = fc
  .tuple(
    runId,
    key,
    key,
    maybe("logger", key),
    maybe("step", fc.constantFrom("3", "1.5", "null")),
    maybe("fields", object),
  )
  .map(([run, level, msg, ...rest]) => ["log", `{"run_id":${run},"level":${level},"msg":${msg}${rest.join("")}}`]);
const other = fc.tuple(runId, odd).map(([run, value]) => ["new_type", `{"run_id":${run},"x":${value}}`]);

it("gives back every value of any event that is accepted, unknown fields too [XT-20]", () => {
  const event = fc.tuple(m, fc.oneof(metric, batch, param, log, other), maybe("z", odd));
  fc.assert(
    fc.property(event, ([meta, [type, payload], extra]) => {
      const text = `{"v":1,"t":"${type}","m":${meta},"p":${payload}${extra}}`;
      const { columns, outcomes } = decodeAll([text]);
      expect(outcomes).toEqual(["event"]);
      const back = rebuildAll(columns)[0] as string;
      expect(sorted(read(back)), formatJson(text, "lossless")).toEqual(sorted(read(text)));
    }),
    { numRuns: 2000 },
  );
});

it("writes a number that no double can hold as it came, wherever it stands", () => {
  const events = [
    '{"v":1,"t":"metric","m":{"seq":1,"ts":1,"x":1e400},"p":{"run_id":"r","key":"k","value":1e400}}',
    '{"v":1,"t":"metric","m":{"seq":2,"ts":1},"p":{"run_id":"r","key":"k","value":-1e-400,"step":1e400}}',
    '{"v":1,"t":"metric_batch","m":{"seq":3,"ts":1},"p":{"run_id":"r","metrics":{"a":1e400,"b":0.50},"ctx":{"x":1e400}}}',
    '{"v":1,"t":"metric","m":{"seq":4,"ts":1},"p":{"run_id":"r","key":"k","value":1,"new":[1e400]},"z":1e400}',
  ];
  const { columns } = decodeAll(events);
  const literals = (text: string) => (text.match(/-?1e-?400/g) ?? []).sort();
  expect(rebuildAll(columns).map(literals)).toEqual(events.map(literals));
  expect(rebuildAll(columns).join()).not.toMatch(/Infinity/);
});

it("writes a large double as short as it can be, and an integer of 64 bits with its digits", () => {
  const values = [
    "1.7976931348623157e+308",
    "-1e+21",
    "18446744073709551615",
    "9007199254740993",
    "-9223372036854775808",
  ];
  const events = values.map(
    (value, at) => `{"v":1,"t":"metric","m":{"seq":${at + 1},"ts":1},"p":{"run_id":"r","key":"k","value":${value}}}`,
  );
  expect(rebuildAll(decodeAll(events).columns).map((text) => /"value":([^,}]+)/.exec(text)?.[1])).toEqual(values);
});
