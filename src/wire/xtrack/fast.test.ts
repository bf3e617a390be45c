import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { EventDecoder, type Outcome } from "./decode.ts";
import { metricsOf, othersOf } from "./decode-cases.testing.ts";
import type { EventColumns } from "./event-columns.ts";

const textEncoder = new TextEncoder();

/** Everything two decoders must agree on. */
function show(columns: EventColumns) {
  const events = Array.from({ length: columns.length }, (_, i) => [
    columns.type.at(i),
    columns.hash.at(i),
    columns.offset.at(i),
  ]);
  return { events, metrics: metricsOf(columns), others: othersOf(columns) };
}

function decodeBoth(payloads: readonly string[]) {
  const fast = new EventDecoder();
  const general = new EventDecoder();
  const slow = vi.spyOn(fast, "decodeAny");
  const outcomes: [Outcome, Outcome][] = payloads.map((payload, i) => {
    const bytes = textEncoder.encode(payload);
    return [fast.decode(bytes, 0, bytes.length, i), general.decodeAny(bytes, 0, bytes.length, i)];
  });
  for (const [a, b] of outcomes) expect(a).toBe(b);
  expect(show(fast.columns)).toEqual(show(general.columns));
  return { slow: slow.mock.calls.length };
}

const number = fc.oneof(
  fc.double().map((value) => (Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? String(value) : `${value}`)),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.double({ min: -100, max: 100, noNaN: true }).map((value) => value.toPrecision(17)),
  fc.constantFrom(
    "1.0",
    "-0.0",
    "-0",
    "1e-05",
    "9007199254740993",
    "1180591620717411303424",
    "01",
    "1.",
    "true",
    '"x"',
    "NaN",
    "Infinity",
  ),
);
const name = fc.constantFrom("loss", "acc", "train/loss", "", "é", 'a\\"b', "x".repeat(40));
const whole = fc.oneof(
  fc.nat(1000).map(String),
  fc.constantFrom("-1", "1.5", "9007199254740992", "1152921504606846976", "00", "null"),
);
const ctx = fc.constantFrom(
  "",
  ',"ctx":{"phase":"train","batch_size":32}',
  ',"ctx":{"phase":"odd"}',
  ',"ctx":{}',
  ',"ctx":null',
);
const head = fc
  .tuple(
    fc.constantFrom("metric", "metric_batch", "metric_x"),
    whole,
    fc.nat(2 ** 40),
    fc.constantFrom("", ',"wid":"w0"', ',"wid":"w1"', ',"wid":""', ',"x":1'),
  )
  .map(([type, seq, ts, wid]) => [type, `{"v":1,"t":"${type}","m":{"seq":${seq},"ts":${ts}${wid}}`] as const);
const frame = fc
  .tuple(
    head,
    fc.constantFrom("r1", "r2"),
    name,
    number,
    number,
    whole,
    ctx,
    fc.constantFrom("}", "} ", ',"z":1}', "}}", ""),
  )
  .map(([[type, start], run, key, value, other, step, context, tail]) => {
    const body = type === "metric" ? `"key":"${key}","value":${value}` : `"metrics":{"a":${value},"${key}":${other}}`;
    return `${start},"p":{"run_id":"${run}",${body},"step":${step}${context}}${tail}`;
  });

describe("fast path", () => {
  it("agrees with the general decoder on every frame, however odd", () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 2, maxLength: 30 }), (payloads) => {
        decodeBoth(payloads);
      }),
      { numRuns: 600 },
    );
  });

  it("agrees with the general decoder when any byte of a known frame is another one", () => {
    const known =
      '{"v":1,"t":"metric_batch","m":{"seq":14,"ts":1794710321102255,"wid":"w"},"p":{"run_id":"59a8","step":0,"epoch":0,"metrics":{"loss":4.808555603027344,"lr":1e-05},"ctx":{"phase":"train"}}}';
    for (let at = 0; at < known.length; at++) {
      for (const byte of ['"', "0", "-", ".", "e", "}", "\\", "N"]) {
        decodeBoth([
          known,
          known.slice(0, at) + byte + known.slice(at + 1),
          known.slice(0, at) + byte + known.slice(at),
          known.slice(0, at) + known.slice(at + 1),
        ]);
      }
    }
  });

  it("takes nearly all recorded metrics, NaN among them", () => {
    const file = new URL("../../../tests/fixtures/xtrack/file_full/events.ndjson", import.meta.url);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const metrics = lines.filter((line) => line.includes('"t":"metric'));
    expect(metrics).toHaveLength(259);
    expect(decodeBoth(metrics).slow).toBeLessThan(60);
    const frames = ["1", "NaN", "Infinity", "-Infinity", "123456789012345"].map(
      (value) => `{"v":1,"t":"metric","m":{"seq":1,"ts":5},"p":{"run_id":"r","key":"k","value":${value}}}`,
    );
    expect(decodeBoth(frames).slow).toBeLessThanOrEqual(1);
  });

  it("takes every frame of a shape after the first, for any run, worker and key", () => {
    const frames = Array.from(
      { length: 200 },
      (_, i) =>
        `{"v":1,"t":"metric","m":{"seq":${i},"ts":${1794710321102255 + i},"wid":"w${i % 3}"},"p":{"run_id":"run-${i % 7}","key":"k${i % 11}","value":${Math.sqrt(i)},"step":${i}}}`,
    );
    expect(decodeBoth(frames).slow).toBeLessThanOrEqual(1);
  });

  it("takes what another stream has learned, and sends nothing of the one to the other", () => {
    const toFrame = (run: string, seq: number) =>
      `{"v":1,"t":"metric","m":{"seq":${seq},"ts":5,"wid":"w"},"p":{"run_id":"${run}","step":${seq},"value":0.5,"key":"k","ctx":{"phase":"fleet"}}}`;
    expect(decodeBoth([toFrame("run-1", 1), toFrame("run-1", 2)]).slow).toBe(1);
    expect(decodeBoth([toFrame("run-2", 7), toFrame("run-3", 8)]).slow).toBe(0);
  });

  it("gives up learning when shapes never come again", () => {
    const frames = Array.from(
      { length: 600 },
      (_, i) => `{"v":1,"t":"metric_batch","m":{"seq":${i},"ts":5},"p":{"run_id":"r","metrics":{"k${i}":1}}}`,
    );
    expect(decodeBoth(frames).slow).toBe(600);
  });
});
