import fc from "fast-check";
import { expect, test } from "vitest";
import { formatJson } from "./format.ts";
import { parseJson } from "./parse.ts";
import { toStrictJson } from "./strict.ts";
import { oddity } from "./value.ts";

function strictOf(text: string): { text: string; changed: boolean; oddities: number } {
  const result = toStrictJson(new TextEncoder().encode(text));
  return {
    text: new TextDecoder().decode(result.bytes.subarray(result.start, result.end)),
    changed: result.changed,
    oddities: result.oddities,
  };
}

test("leaves strict compact text where it stands", () => {
  const bytes = new TextEncoder().encode('[0,{"a":1.0,"b":"\\u00e9","c":[1e+22,-0.0]}]');
  const result = toStrictJson(bytes, 3, bytes.length - 1);
  expect(result).toStrictEqual({ bytes, start: 3, end: bytes.length - 1, changed: false, oddities: 0 });
});

test.each([
  ['{"a": 1.0, "b" : [ ] }', '{"a":1.0,"b":[]}', 0],
  ["[NaN,Infinity,-Infinity]", '["NaN","Infinity","-Infinity"]', oddity.nonFinite],
  ['{"1":"true","1":"str","2":0}', '{"1":"str","2":0}', oddity.duplicateKeys],
  ['{"a":{"b":1,"\\u0062":NaN},"c":"\\ud83d"}', '{"a":{"\\u0062":"NaN"},"c":"\\ud83d"}', 7],
  [' "\\ud83d" ', '"\\ud83d"', oddity.loneSurrogate],
])("turns %s into %s", (text, expected, oddities) => {
  expect(strictOf(text)).toStrictEqual({ text: expected, changed: true, oddities });
});

test("keeps integers of any size and says that they are big", () => {
  expect(strictOf("1180591620717411303424")).toStrictEqual({
    text: "1180591620717411303424",
    changed: false,
    oddities: oddity.bigInteger,
  });
  expect(strictOf("9007199254740991").oddities).toBe(0);
});

test("finds equal keys among many", () => {
  const members = Array.from({ length: 1000 }, (_, i) => `"key${i}":${i}`);
  expect(strictOf(`{${members.join()}}`)).toMatchObject({ changed: false, oddities: 0 });
  expect(strictOf(`{${members.join()},"key7":"again"}`)).toMatchObject({
    changed: true,
    oddities: oddity.duplicateKeys,
  });
});

test("gives text that JSON.parse accepts and that means the same", () => {
  const leaf = fc.constantFrom(
    "1",
    "-0.0",
    "NaN",
    "Infinity",
    "-Infinity",
    '"x"',
    '"\\ud83d"',
    "null",
    "18446744073709551616",
  );
  const key = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"c d"');
  const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("text"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc
        .array(fc.tuple(key, tie("text")), { maxLength: 4 })
        .map((all) => `{${all.map(([k, v]) => `${k} :${v}`).join()}}`),
    ),
  }));
  fc.assert(
    fc.property(anyText, (text) => {
      const strict = strictOf(text);
      const original = parseJson(text);
      const result = parseJson(strict.text);
      JSON.parse(strict.text);
      if (!original.ok || !result.ok) throw new Error(text);
      expect(strict.oddities).toBe(original.oddities);
      expect(result.oddities & (oddity.nonFinite | oddity.duplicateKeys)).toBe(0);
      expect(formatJson(result.value, "strict")).toBe(formatJson(original.value, "strict"));
    }),
    { numRuns: 3000 },
  );
});
