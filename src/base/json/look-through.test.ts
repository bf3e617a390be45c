import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { JsonCursor } from "./cursor.ts";
import { lookThrough } from "./look-through.ts";
import { longValueBytes, passedIn } from "./passed-values.ts";
import { rewriteStrict, StrictScan, toStrictJson } from "./strict.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const longText = "x".repeat(longValueBytes);

/** Looks a text through, and counts the pauses. */
function look(text: string): { bytes: Uint8Array; pauses: number } {
  const bytes = encode(text);
  const steps = lookThrough(bytes);
  let pauses = 0;
  while (steps.next().done !== true) pauses++;
  return { bytes, pauses };
}

function strictOf(bytes: Uint8Array, start: number, end: number) {
  const { changed, oddities, ...text } = toStrictJson(bytes, start, end);
  return { changed, oddities, text: decode(text.bytes.subarray(text.start, text.end)) };
}

/** Where the value of the first `"long":` begins, and where it ends. */
function placeOfLong(bytes: Uint8Array): [number, number] {
  const start = decode(bytes).indexOf('"long":') + 7;
  const cursor = new JsonCursor(bytes, start);
  cursor.skipValue();
  return [start, cursor.pos];
}

test("pauses again and again in a long list, and notes nothing of a short text", () => {
  const { pauses } = look(`[${"1.5,".repeat(300_000)}2]`);
  expect(pauses).toBeGreaterThan(60);
  const { bytes } = look('{"a":[1,2,3]}');
  expect(passedIn(bytes, 0, longValueBytes)).toBeNull();
});

test.each([
  ["a list", `[${"1,".repeat(40_000)}2]`],
  ["a list with blanks", `[${"1, ".repeat(40_000)}2 ]`],
  ["numbers that are none", `[${"NaN, -Infinity,Infinity,".repeat(4000)}-1e5]`],
  ["an object", `{"a":"${longText}","b":{"c":"\\u00e9\\""}}`],
  ["an object with a key twice", `{"a": 1,"b":"${longText}","a":2}`],
  ["a text", `"${longText}"`],
  ["a text with escapes and wide letters", `"\\"[1, NaN]\\\\é${longText}"`],
  ["half a surrogate pair", `["\\ud800", "${longText}"]`],
  ["large integers", `[9007199254740993, "${longText}"]`],
])("%s is read afterwards as it would be without it", (_, value) => {
  const text = `{"short": [1, NaN], "long":${value}, "last" : true}`;
  const plain = encode(text);
  const { bytes } = look(text);
  const [start, end] = placeOfLong(bytes);
  expect(placeOfLong(plain)).toEqual([start, end]);
  expect(strictOf(bytes, start, end)).toEqual(strictOf(plain, start, end));
  expect(strictOf(bytes, 0, bytes.length)).toEqual(strictOf(plain, 0, bytes.length));
  expect(decode(rewriteStrict(bytes, start, end))).toBe(decode(rewriteStrict(plain, start, end)));
  const [known, unknown] = [bytes, plain].map((source) => {
    const cursor = new JsonCursor(source, start, end);
    const scan = new StrictScan(cursor);
    return { isStrict: scan.scan(), oddities: scan.oddities, pos: cursor.pos };
  });
  expect(known).toEqual(unknown);
});

test("the strict form of an object with a key twice is at hand, and so is that of what is left in it", () => {
  const kept = `{"x": NaN,"t":"${longText}","x":2}`;
  const text = `{"a":1,"b":{"gone": ["${longText}"]},"long":[${kept}, "${longText}"],"b":3,"a":{"last": "${longText}"}}`;
  const { bytes, pauses } = look(text);
  const known = passedIn(bytes, 0, bytes.length);
  const strictAt = (part: string) => known?.get(text.indexOf(part))?.strict ?? null;
  const strictKept = `{"x":2,"t":"${longText}"}`;
  const strictLong = `[${strictKept},"${longText}"]`;
  expect(decode(strictAt(text) as Uint8Array)).toBe(`{"a":{"last":"${longText}"},"b":3,"long":${strictLong}}`);
  expect(decode(strictAt(`[${kept}`) as Uint8Array)).toBe(strictLong);
  expect(decode(strictAt(kept) as Uint8Array)).toBe(strictKept);
  expect(decode(strictAt('{"last": ') as Uint8Array)).toBe(`{"last":"${longText}"}`);
  expect(strictAt('["')).toBeNull();
  expect(pauses).toBeGreaterThan(1);
});

test("a long value that is strict as it stands is not written anew", () => {
  const { bytes } = look(`{"long":{"t":"${longText}"}}`);
  const [start, end] = placeOfLong(bytes);
  expect(rewriteStrict(bytes, start, end).buffer).toBe(bytes.buffer);
});

test("any object with keys twice has the same strict form, looked through or not", () => {
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("1", "NaN", '"x"', `"${longText}"`),
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc
        .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"\\u0061"'), tie("value")), { maxLength: 4 })
        .map((all) => `{${all.map(([key, item]) => `${key}: ${item}`).join(",")}}`),
    ),
  }));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('"a"', '"b"'), value), { maxLength: 4 }), (members) => {
      const text = `{${members.map(([key, item]) => `${key}:${item}`).join(",")}}`;
      const { bytes } = look(text);
      const known = passedIn(bytes, 0, longValueBytes);
      for (const [start, { end }] of known ?? [])
        expect(strictOf(bytes, start, end)).toEqual(strictOf(encode(text), start, end));
    }),
    { numRuns: 200 },
  );
});

test("a long text is described as the cursor would", () => {
  const { bytes } = look(`{"long":"é\\n${longText}"}`);
  const cursor = new JsonCursor(bytes, 8);
  cursor.readString();
  const { start, stop, escaped, wide, lone, pos } = cursor;
  expect({ start, stop, escaped, wide, lone, pos }).toEqual({
    ...{ start: 9, stop: bytes.length - 2, pos: bytes.length - 1 },
    ...{ escaped: true, wide: true, lone: false },
  });
});

test.each([["[1,2"], ["[1,]"], ['{"a":1,,}'], ["[1] 2"], [`["${longText}`], ["\u0001"]])(
  "throws what is wrong with %j",
  (text) => {
    const cursor = new JsonCursor(encode(text));
    const read = () => {
      cursor.skipValue();
      cursor.finish();
    };
    let message = "";
    try {
      read();
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).not.toBe("");
    expect(() => atOnce(lookThrough(encode(text)))).toThrow(message);
  },
);

test("any value with any blanks has the same strict form, looked through or not", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify({ before: [value, longText], long: value, after: longText }, null, indent);
      const { bytes } = look(text);
      expect(strictOf(bytes, 0, bytes.length)).toEqual(strictOf(encode(text), 0, bytes.length));
      const start = text.indexOf('"before":') + 9 + (indent > 0 ? 1 : 0);
      const at = encode(text.slice(0, start)).length;
      const cursor = new JsonCursor(bytes, at);
      cursor.skipValue();
      expect(strictOf(bytes, at, cursor.pos)).toEqual(strictOf(encode(text), at, cursor.pos));
    }),
    { numRuns: 30 },
  );
});
