import { describe, expect, test } from "vitest";
import { decodeBatch } from "./decode.ts";
import { isOtlpProtobuf } from "./otlp.ts";

/** A length-delimited protobuf field. */
function field(tag: number, content: readonly number[]): number[] {
  const size: number[] = [];
  for (let rest = content.length; ; rest >>= 7) {
    size.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) break;
  }
  return [tag, ...size, ...content];
}

const text = (value: string) => [...new TextEncoder().encode(value)];
const scopeSpans = field(0x12, field(0x12, field(0x2a, text("a span of an OpenTelemetry SDK".repeat(10)))));
const request = Uint8Array.from([...field(0x0a, [...field(0x0a, []), ...scopeSpans]), ...field(0x0a, scopeSpans)]);

describe("an OpenTelemetry export at the Cirron route", () => {
  test("as protobuf is called by its name, not a syntax error", () => {
    expect(isOtlpProtobuf(request)).toBe(true);
    expect(decodeBatch(request)).toMatchObject({ ok: false, refusal: { code: "cirron_otlp" } });
  });

  test("as JSON too", () => {
    const json = new TextEncoder().encode('{"resourceSpans":[{"resource":{},"scopeSpans":[]}]}');
    expect(decodeBatch(json)).toMatchObject({ ok: false, refusal: { code: "cirron_otlp" } });
  });

  test("is not seen in a batch that has a key of that name", () => {
    const json = '{"schema_version":1,"batch_id":"b","spans":[],"resourceSpans":[]}';
    expect(decodeBatch(new TextEncoder().encode(json))).toMatchObject({
      ok: true,
      batch: { extra: '{"resourceSpans":[]}' },
    });
  });

  test("is not seen in other bytes that are no JSON", () => {
    for (const bytes of [
      request.subarray(0, -1),
      text("\n{"),
      text("\n"),
      text(""),
      [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ]) {
      expect(isOtlpProtobuf(Uint8Array.from(bytes))).toBe(false);
      expect(decodeBatch(Uint8Array.from(bytes))).toMatchObject({ ok: false, refusal: { code: "json_syntax" } });
    }
  });
});
