import fc from "fast-check";
import { expect, it } from "vitest";
import { JsonCursor } from "./cursor.ts";
import { endOfValue } from "./end-of-value.ts";

const encoder = new TextEncoder();

it("ends every value where a cursor ends it, whatever follows", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(",1]", "]", "}", ":2", " ,3]"), (json, rest) => {
      const bytes = encoder.encode(json + rest);
      const cursor = new JsonCursor(bytes);
      cursor.skipValue();
      expect(endOfValue(bytes, 0)).toBe(cursor.pos);
    }),
  );
});

it("finds no end of a value that is torn", () => {
  for (const torn of ['"a', '"a\\"', "[1,2", '{"a":[1]', '{"a":"}']) {
    expect(endOfValue(encoder.encode(torn), 0)).toBe(-1);
  }
});

it("passes values of any depth and texts of any bytes", () => {
  const deep = encoder.encode(`${"[".repeat(100_000)}${"]".repeat(100_000)},`);
  expect(endOfValue(deep, 0)).toBe(200_000);
  expect(endOfValue(Uint8Array.of(0x22, 0xff, 0x01, 0x22, 0x2c), 0)).toBe(4);
});
