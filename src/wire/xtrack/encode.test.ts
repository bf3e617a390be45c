import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodePayload } from "./encode.ts";
import { gather, join } from "./stream-cases.testing.ts";

const toFrame = (text: string) => encodePayload(new TextEncoder().encode(text));

describe("encodePayload", () => {
  it("puts a big-endian length before the text [XT-01]", () => {
    const text = `{"a": "é${"x".repeat(300)}"}`;
    const frame = toFrame(text);
    expect([...frame.subarray(0, 4)]).toEqual([0, 0, 1, 0x37]);
    expect(new TextDecoder().decode(frame.subarray(4))).toBe(text);
  });

  it("is read back by the framer, whatever the payload", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }), (values) => {
        const stream = join(...values.map((value) => toFrame(JSON.stringify({ x: value }))));
        const expected = values.map((value) => JSON.parse(JSON.stringify({ x: value })) as unknown);
        expect(gather(stream).frames.map((text) => JSON.parse(text) as unknown)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });
});
