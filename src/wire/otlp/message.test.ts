import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "#base/json/parse.ts";
import { NumberText } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { anyMessage } from "./any-message.testing.ts";
import { fromJson, NotMessage, toJson } from "./json-message.ts";
import { decodeMessage, encodeMessage, type Message } from "./message.ts";
import { formatMessage } from "./message-text.ts";
import { logRecord, type MessageType, metric, resource, span } from "./schema.ts";

function textOf(type: MessageType, message: Message): string {
  return atOnce(formatMessage(type, message)).text.join("");
}

const types = { span, metric, logRecord, resource };

describe.each(Object.entries(types))("a %s", (_, type) => {
  it("comes back from protobuf and from JSON as it was, whatever it says [OT-05]", () => {
    fc.assert(
      fc.property(anyMessage(type), (message) => {
        const bytes = encodeMessage(type, message);
        const decoded = decodeMessage(type, bytes);
        expect(decoded?.isExact).toBe(true);
        expectEqual(encodeMessage(type, decoded?.message as Message), bytes);
        const parsed = parseJson(textOf(type, message));
        expect(parsed.ok).toBe(true);
        if (parsed.ok) expectEqual(encodeMessage(type, fromJson(type, parsed.value)), bytes);
      }),
      { numRuns: 200 },
    );
  });

  it("is refused or read, and never throws, when its bytes are changed or cut", () => {
    const mutated = fc.tuple(anyMessage(type), fc.nat(), fc.nat(255), fc.boolean());
    fc.assert(
      fc.property(mutated, ([message, at, byte, isCut]) => {
        const bytes = encodeMessage(type, message);
        if (bytes.length === 0) return;
        if (isCut) decodeMessage(type, bytes.subarray(0, at % bytes.length));
        else {
          bytes[at % bytes.length] = byte;
          decodeMessage(type, bytes);
        }
      }),
      { numRuns: 500 },
    );
  });
});

it("keeps fields and members that it does not know, and writes them again [OT-12]", () => {
  // Field 99, a varint of 5, behind a name.
  const bytes = Buffer.concat([encodeMessage(span, { name: "a" }), Uint8Array.of(0x98, 0x06, 0x05)]);
  const decoded = decodeMessage(span, bytes);
  expect(Buffer.from(encodeMessage(span, decoded?.message as Message))).toEqual(bytes);
  const parsed = parseJson('{"name":"a","later":{"x":[1,2.0]}}');
  const message = parsed.ok ? fromJson(span, parsed.value) : {};
  const again = decodeMessage(span, encodeMessage(span, message));
  expect(JSON.parse(textOf(span, again?.message as Message))).toEqual({ name: "a", later: { x: [1, 2] } });
});

it("keeps a member named __proto__ that it does not know", () => {
  const parsed = parseJson('{"name":"a","__proto__":{"x":1}}');
  const message = fromJson(span, parsed.ok ? parsed.value : null);
  expect(textOf(span, message)).toContain('"__proto__":{"x":1}');
  expect(Object.entries(toJson(span, message))).toEqual([
    ["name", "a"],
    ["__proto__", { x: 1 }],
  ]);
});

it("refuses an integer of millions of digits without computing it", () => {
  const number = new NumberText("9".repeat(4_000_000));
  const startMs = performance.now();
  expect(() => fromJson(span, { startTimeUnixNano: number })).toThrow(/is not between/);
  expect(performance.now() - startMs).toBeLessThan(500);
});

it("reads ids in hex of any case, 64-bit integers as text or number, enums as integers, and words for NaN [OT-09] [OT-10] [OT-11]", () => {
  const read = (text: string, type = span): Message => {
    const parsed = parseJson(text);
    if (!parsed.ok) throw new Error("no JSON");
    return fromJson(type, parsed.value);
  };
  expect(Buffer.from(read('{"traceId":"0AfF"}')["traceId"] as Uint8Array).toString("hex")).toBe("0aff");
  expect(read('{"startTimeUnixNano":"18446744073709551615"}')["startTimeUnixNano"]).toBe(2n ** 64n - 1n);
  expect(read('{"startTimeUnixNano":5}')["startTimeUnixNano"]).toBe(5n);
  expect(read('{"kind":3,"status":null}')).toEqual({ kind: 3 });
  const point = read('{"gauge":{"dataPoints":[{"asDouble":"NaN"},{"asDouble":"-Infinity"}]}}', metric);
  expect(point).toEqual({ gauge: { dataPoints: [{ asDouble: Number.NaN }, { asDouble: Number.NEGATIVE_INFINITY }] } });
  for (const bad of [
    '{"kind":"SPAN_KIND_SERVER"}',
    '{"traceId":"xyz"}',
    '{"name":5}',
    '{"startTimeUnixNano":1.5}',
    "[]",
  ])
    expect(() => read(bad)).toThrow(NotMessage);
});
