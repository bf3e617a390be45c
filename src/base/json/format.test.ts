import fc from "fast-check";
import { expect, test } from "vitest";
import { formatJson, inPieces } from "./format.ts";
import { parseJson } from "./parse.ts";
import { type JsonValue, NumberText } from "./value.ts";

const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double(),
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
  fc.bigInt({ min: 2n ** 63n, max: 2n ** 90n }).map((value) => new NumberText(String(value))),
  fc.string({ unit: "binary" }),
);
const anyValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: "binary", maxLength: 4 }), tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test("writes losslessly what parseJson reads back equal", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const result = parseJson(formatJson(value, "lossless"));
      expect(result.ok && result.value).toStrictEqual(value);
    }),
    { numRuns: 2000 },
  );
});

test("writes strictly what JSON.parse accepts", () => {
  fc.assert(fc.property(anyValue, (value) => void JSON.parse(formatJson(value, "strict"))));
});

test("writes strict JSON as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // JSON.stringify drops the sign of zero and the point of doubles beyond 2^53.
      const text = JSON.stringify(value);
      expect(formatJson(JSON.parse(text) as JsonValue, "strict").replaceAll(/(\d{16,})\.0/g, "$1")).toBe(text);
    }),
  );
});

test("writes non-finite numbers as words, -0 with its sign, big integers in full, half pairs as escapes", () => {
  const value = [NaN, Infinity, -Infinity, -0, 2n ** 60n, new NumberText("1180591620717411303424"), "\ud83d", "a\0"];
  expect(formatJson(value, "strict")).toBe(
    '["NaN","Infinity","-Infinity",-0,1152921504606846976,1180591620717411303424,"\\ud83d","a\\u0000"]',
  );
  expect(formatJson([NaN, Infinity, -Infinity], "lossless")).toBe("[NaN,Infinity,-Infinity]");
});

test("a text in pieces is the same text, and so is its JSON", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 4 }), (text, charsMax) => {
      const pieces = [...inPieces(text, charsMax)];
      expect(pieces.join("")).toBe(text);
      expect(pieces.map((piece) => JSON.stringify(piece).slice(1, -1)).join("")).toBe(
        JSON.stringify(text).slice(1, -1),
      );
    }),
  );
});
