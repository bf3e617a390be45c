// Frames of megabytes are decoded with pauses, so that nobody waits for them, and give what they would give at once.

import { describe, expect, it } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { atOnce } from "#base/turns.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { EventDecoder, largeFrameBytes } from "./decode.ts";
import { metricsOf, othersOf, rebuildAll } from "./decode-cases.testing.ts";
import { decodeXtrackInSteps, XtrackStream } from "./stream.ts";
import { frameOf, join } from "./stream-cases.testing.ts";

const event = (type: string, payload: string, seq = 1) =>
  `{"v":1,"t":"${type}","m":{"seq":${seq},"ts":5},"p":{"run_id":"r",${payload}}}`;
const metrics = (count: number, value: (i: number) => string) =>
  `"metrics":{${Array.from({ length: count }, (_, i) => `"m${i}":${value(i)}`).join(",")}}`;
const longText = "text \\n ü".repeat(40_000);
const numbers = (separator: string) => Array.from({ length: 45_000 }, (_, i) => i / 4).join(separator);

const payloads: readonly (readonly [what: string, payload: string])[] = [
  [
    "a batch of many metrics",
    event(
      "metric_batch",
      metrics(20_000, (i) => String(i / 8)),
    ),
  ],
  [
    "a batch with odd values",
    event(
      "metric_batch",
      metrics(20_000, (i) => ["NaN", "null", "1e400", "9007199254740993", "[1, 2]"][i % 5] as string),
    ),
  ],
  ["a batch with a key twice", event("metric_batch", metrics(20_000, (i) => String(i)).replace('"m7"', '"m8"'))],
  ["a param of a long text", event("param", `"key":"k","value":"${longText}"`)],
  ["a param of a list", event("param", `"key":"k","value":[${numbers(",")}]`)],
  ["a param of a list with blanks", event("param", `"key":"k" , "value": [${numbers(", ")} ]`)],
  [
    "a param of a list with numbers that are none",
    event("param", `"key":"k","value":[NaN, ${numbers(",")},-Infinity]`),
  ],
  ["a param of an object with a key twice", event("param", `"key":"k","value":{"a": 1,"a":[${numbers(", ")}]}`)],
  ["a param with fields that are unknown", event("param", `"key":"k","value":1,"more":[${numbers(", ")}]`)],
  [
    "a log with many fields that are unknown",
    event("log", `"level":"info","msg":"m",${metrics(20_000, (i) => ` ${i}`).slice(11, -1)},"m3":NaN`),
  ],
  ["a metric with a long context", event("metric", `"key":"k","value":1,"ctx":{"phase":"p","l":[${numbers(", ")}]}`)],
  ["a log with a long text", event("log", `"level":"info","msg":"${longText}","fields":{"l":[${numbers(",")}]}`)],
  ["an event of an unknown type", event("novel", `"x":{"y":[${numbers(", ")}]}`)],
  ["a checkpoint with many metrics", event("checkpoint", `"step":1,"path":"p",${metrics(20_000, String)}`)],
  ["a frame that is refused", event("param", `"value":[${numbers(",")}]`)],
  ["a frame that is no object", `[${numbers(",")}]`],
  ["a frame that is no JSON", `${event("param", `"key":"k","value":[${numbers(",")}`)}x`],
];

describe("a large frame", () => {
  it.each(payloads)("is read with pauses as it is at once: %s", (_, payload) => {
    const bytes = new TextEncoder().encode(payload);
    expect(bytes.length).toBeGreaterThan(largeFrameBytes);
    const [slow, fast] = [new EventDecoder(), new EventDecoder()];
    const { value: outcome, pauses } = countPauses(slow.decodeLarge(bytes.slice(), 0, bytes.length, 0));
    expect(outcome).toBe(fast.decodeAny(bytes, 0, bytes.length, 0));
    expect(slow.refusal).toEqual(fast.refusal);
    expectEqual(metricsOf(slow.columns), metricsOf(fast.columns));
    expectEqual(othersOf(slow.columns), othersOf(fast.columns));
    expectEqual(rebuildAll(slow.columns), rebuildAll(fast.columns));
    if (outcome === "event") expect(slow.columns.hash.at(0)).toBe(fast.columns.hash.at(0));
    expect(pauses).toBeGreaterThan(outcome === "event" ? 1 : 0);
  });

  it("of one long text is looked through in pieces, whatever letters it has", () => {
    for (const letters of ["plain ", "漢字", "\\n\\u00e9"]) {
      const bytes = new TextEncoder().encode(event("param", `"key":"k","value":"${letters.repeat(500_000)}"`));
      const { pauses } = countPauses(new EventDecoder().decodeLarge(bytes, 0, bytes.length, 0));
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(bytes.length / largeFrameBytes));
    }
  });

  it("of many metrics is cut into hundreds of steps, however few bytes it has", () => {
    const bytes = new TextEncoder().encode(
      event(
        "metric_batch",
        metrics(200_000, () => "1"),
      ),
    );
    const decoder = new EventDecoder();
    const { value, pauses } = countPauses(decoder.decodeLarge(bytes, 0, bytes.length, 0));
    expect([value, decoder.columns.metricRows]).toEqual(["event", 200_000]);
    // Looked through, taken apart, made rows of and summed: each in steps of some thousand at most.
    expect(pauses).toBeGreaterThan(200_000 / 4096 + 200_000 / 2048 + 200_000 / 1024);
  });

  it("in a stream leaves its neighbours where they are, in the record that it becomes too", () => {
    const small = (seq: number) => frameOf(event("param", `"key":"k","value":${seq}`, seq));
    const bytes = join(small(1), ...payloads.map(([, payload]) => frameOf(payload)), small(2));
    const [slow, fast] = [new XtrackStream(), new XtrackStream()];
    const { value: chunk, pauses } = countPauses(slow.pushInSteps(bytes.slice()));
    const expected = fast.push(bytes);
    if (chunk === null || expected === null) throw new Error("nothing came");
    expect(chunk.body.length).toBe(expected.body.length);
    const rebuilt = rebuildAll(expected.decoded.columns);
    expectEqual(rebuildAll(chunk.decoded.columns), rebuilt);
    expect(chunk.decoded.faults.map(({ fault }) => [fault.code, fault.place])).toEqual(
      expected.decoded.faults.map(({ fault }) => [fault.code, fault.place]),
    );
    expect(pauses).toBeGreaterThan(payloads.length);
    const again = countPauses(decodeXtrackInSteps(chunk));
    expectEqual(rebuildAll(again.value.columns), rebuilt);
    expect(again.pauses).toBeGreaterThan(payloads.length);
  });

  it("of many values that is pushed at once is done when it returns", () => {
    const stream = new XtrackStream();
    const chunk = stream.push(frameOf(event("metric_batch", metrics(20_000, String))));
    expect(chunk?.decoded.columns.metricRows).toBe(20_000);
    expect(atOnce(stream.pushInSteps(new Uint8Array(0)))).toBeNull();
  });
});
