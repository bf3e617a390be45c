import { globSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { defaultJsonLimits } from "#base/json/value.ts";
import { bundledSchemas } from "./bundled.ts";
import { decodeLines, type ReadLines } from "./decode-lines.testing.ts";
import { createRegistry, type Registry } from "./registry.ts";

const bundled = createRegistry(bundledSchemas);
const files = [...globSync("tests/fixtures/semantiva/**/*.jsonl"), "examples/data/semantiva/sweep.trace.jsonl"];
const corpus = files.flatMap((file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== ""),
);
const shortLines = [...new Set(corpus)].filter(({ length }) => length < 8192);

function decode(text: string, registry: Registry, json = { ...defaultJsonLimits }): ReadLines {
  const source = { body: Buffer.from(text, "latin1"), file: "f", firstLine: 1, offset: 0 };
  return decodeLines(source, registry, { lineBytesMax: 1 << 20, json });
}

/** That a text is decoded alike by whoever has just read `before` and by whoever has read nothing. */
function expectAlike(text: string, before: string): void {
  // What was learned goes with the limits that it was read within.
  const limits = { ...defaultJsonLimits };
  decode(`${before}\n`, bundled, limits);
  expectSame(decode(text, bundled, limits), decode(text, bundled));
}

/** To compare bytes one by one takes `expect` very long. */
function expectSame(one: ReadLines, other: ReadLines): void {
  if (!isDeepStrictEqual(one, other)) expect(one).toEqual(other);
}

/** Counts how often a record was judged. */
function countJudgements(): { readonly registry: Registry; readonly judged: () => number } {
  let count = 0;
  const judge: Registry["judge"] = (...words) => {
    count++;
    return bundled.judge(...words);
  };
  return { registry: { ...bundled, judge }, judged: () => count };
}

const latin = (line: string): string => Buffer.from(line).toString("latin1");

it("reads every line of the corpus as it does when it has read none before", () => {
  const { registry } = countJudgements();
  const limits = { ...defaultJsonLimits };
  for (let round = 0; round < 2; round++)
    for (const line of corpus) expectSame(decode(latin(line), registry, limits), decode(latin(line), bundled));
});

it("judges the lines of a run once, and those of runs like it by their likeness", () => {
  const { registry, judged } = countJudgements();
  const limits = { ...defaultJsonLimits };
  const sweep = readFileSync("examples/data/semantiva/sweep.trace.jsonl", "latin1");
  const first = decode(sweep, registry, limits);
  const before = judged();
  const again = decode(sweep.replaceAll(/run-[0-9a-f]{8}/g, "run-00c0ffee"), registry, limits);
  expect(judged() - before).toBe(0);
  expect(before).toBeLessThan(first.taken.length / 2);
  expect(again.taken.map(({ message }) => message.type)).toEqual(first.taken.map(({ message }) => message.type));
  for (const { message } of again.taken.slice(1, -1)) expect(message.runId).toMatch(/^run-00c0ffee/);
});

const tokens = [
  ...['"', '""', '" "', "\\", "\\u0041", "\\ud800", "\u0000", "\u007f", "\u00e9", "\u00c3\u00a9", "{", "}", "[", "]"],
  ...[
    ",",
    ":",
    " ",
    "\r",
    "0",
    "00",
    "7",
    "-",
    "-1",
    "+1",
    "1.",
    ".5",
    "00.5",
    "0.50",
    "-0.0",
    "1.0",
    "1e5",
    "2E-3",
    "1.5e400",
  ],
  ...["999999999999999", "9007199254740993", "123456789012345678901", "NaN", "-Infinity", "true", "null", "x"],
  ...['"x"', '"PASS"', '"error"', '"context"', '"ser"', '"2026-11-15T02:49:58.493Z"', "{}", "[]", '{"a": 1, "a": 2}'],
];

const edit = fc.record({
  /** A share of the line, or of its values. */
  at: fc.nat({ max: 9999 }).map((at) => at / 10_000),
  how: fc.constantFrom("insert", "remove", "replace byte", "replace value", "replace inside value"),
  token: fc.constantFrom(...tokens),
});

const valueForm = /(?<=[:[,] ?)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/g;

function change(line: string, { at, how, token }: { at: number; how: string; token: string }): string {
  const place = Math.floor(at * line.length);
  if (how === "insert") return line.slice(0, place) + token + line.slice(place);
  if (how === "remove") return line.slice(0, place) + line.slice(place + 1);
  if (how === "replace byte") return line.slice(0, place) + token.charAt(0) + line.slice(place + 1);
  const values = [...line.matchAll(valueForm)];
  const value = values[Math.floor(at * values.length)];
  if (value === undefined) return line;
  const isInside = how === "replace inside value" && value[0].length > 2;
  const from = value.index + (isInside ? 1 : 0);
  const to = value.index + value[0].length - (isInside ? 1 : 0);
  return line.slice(0, from) + token + line.slice(to);
}

it("reads a line with any other value anywhere as if it had not read the line before", () => {
  const sweep = readFileSync("examples/data/semantiva/sweep.trace.jsonl", "latin1").split("\n");
  const ofType = (type: string): string => sweep.find((line) => line.includes(`"record_type": "${type}"`)) as string;
  const whole = [ofType("ser"), ofType("pipeline_end"), ofType("run_space_start")];
  for (const line of whole) for (const value of line.matchAll(valueForm)) expectAlikeWithAny(line, value);
  // A number of another form, of which the other values know nothing.
  const timed = ofType("ser").replace('"wall_ms": 0', '"wall_ms": 3.0');
  for (const value of timed.matchAll(valueForm)) if (value[0] === "3.0") expectAlikeWithAny(timed, value);
});

function expectAlikeWithAny(line: string, { index, 0: value }: RegExpExecArray): void {
  for (const token of tokens) {
    expectAlike(line.slice(0, index) + token + line.slice(index + value.length), line);
    if (value.startsWith('"'))
      expectAlike(`${line.slice(0, index)}"${token}"${line.slice(index + value.length)}`, line);
  }
}

it("reads a line that was changed anywhere as if it had not read the line before the change", () => {
  const chosen = fc.nat({ max: shortLines.length - 1 });
  fc.assert(
    fc.property(chosen, fc.array(edit, { minLength: 1, maxLength: 3 }), (at, edits) => {
      const line = latin(shortLines[at] as string);
      expectAlike(edits.reduce(change, line), line);
    }),
    { numRuns: 1000 },
  );
});

it("reads a line as it is whatever line it is compared with", () => {
  const chosen = fc.nat({ max: shortLines.length - 1 });
  fc.assert(
    fc.property(chosen, chosen, fc.array(edit, { maxLength: 2 }), (one, other, edits) => {
      expectAlike(edits.reduce(change, latin(shortLines[one] as string)), latin(shortLines[other] as string));
    }),
    { numRuns: 500 },
  );
});

it("judges every line itself where a schema asks for more than kinds", () => {
  const end = (status: string): string =>
    `{"record_type":"pipeline_end","schema_version":1,"run_id":"r","summary":{"status":"${status}"}}`;
  const asking = (schema: object): Registry =>
    createRegistry(bundledSchemas, {
      registry: { records: { pipeline_end: "end.schema.json" } },
      schemas: { "end.schema.json": { $id: "end.schema.json", type: "object", ...schema } },
    });
  const inSummary = (status: object): object => ({ properties: { summary: { properties: { status } } } });
  const rules = [
    inSummary({ pattern: "^a" }),
    inSummary({ maxLength: 2 }),
    inSummary({ minLength: 2 }),
    inSummary({ not: { const: "bad" } }),
    inSummary({ $ref: "#/$defs/status" }),
    { allOf: [inSummary({ enum: ["aa", "ab"] })] },
    { anyOf: [inSummary({ const: "aa" }), { required: ["more"] }] },
  ].map((rule) => ({ $defs: { status: { enum: ["aa"] } }, ...rule }));
  for (const rule of rules) {
    const registry = asking(rule);
    const limits = { ...defaultJsonLimits };
    for (const status of ["aa", "bad", "ab", "a"])
      expectSame(decode(end(status), registry, limits), decode(end(status), registry));
  }
});

it("goes on learning after lines that are never alike", () => {
  const { registry, judged } = countJudgements();
  const limits = { ...defaultJsonLimits };
  const odd = (n: number): string =>
    `{"record_type":"pipeline_end","schema_version":1,"run_id":"r","summary":{"k${n}":"v"}}`;
  for (let n = 0; n < 2000; n++) decode(odd(n), registry, limits);
  const same = (n: number): string =>
    `{"record_type":"pipeline_end","schema_version":1,"run_id":"run ${n}","summary":{}}`;
  for (let n = 0; n < 2000; n++) decode(same(n), registry, limits);
  const before = judged();
  for (let n = 0; n < 100; n++) decode(same(n), registry, limits);
  expect(judged() - before).toBeLessThan(10);
});
