import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { parseJson, parseJsonInSteps } from "./parse.ts";
import { defaultJsonLimits, type JsonValue, NumberText, oddity } from "./value.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function parsed(text: string): JsonValue {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`${text}: ${result.fault.reason}`);
  return result.value;
}

function odditiesOf(text: string): number {
  const result = parseJson(text);
  if (!result.ok) throw new Error(`${text}: ${result.fault.reason}`);
  return result.oddities;
}

/** What JSON.parse would have made of it: exact integers rounded to doubles. */
function rounded(value: JsonValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof NumberText) return Number(value.text);
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== "object") return value;
  const copy = {};
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: rounded(item), writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function expectAsJsonParse(text: string): void {
  let expected: unknown;
  try {
    expected = JSON.parse(text);
  } catch {
    const result = parseJson(text);
    // Beyond JSON.parse only the three literals are accepted.
    if (result.ok) expect(result.oddities & oddity.nonFinite, text).toBe(oddity.nonFinite);
    return;
  }
  const actual = rounded(parsed(text));
  expect(actual).toStrictEqual(expected);
  // toStrictEqual does not look at the order of keys.
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected));
}

describe("parseJson on strict JSON", () => {
  test("gives what JSON.parse gives for any value", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), (text) => expectAsJsonParse(text)),
      { numRuns: 2000 },
    );
  });

  test("gives what JSON.parse gives for indented text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(" ", "\t", "\n  ", "\r\n"), (value, indent) =>
        expectAsJsonParse(`${indent}${JSON.stringify(value, null, 3).replaceAll("\n", indent)}${indent}`),
      ),
    );
  });

  test("gives what JSON.parse gives for any double", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = Object.is(value, -0) ? "-0.0" : String(value);
        expect(parsed(text.includes("e") || text.includes(".") ? text : `${text}.0`)).toBe(value);
      }),
      { numRuns: 5000 },
    );
  });

  test("gives what JSON.parse gives for number tokens of any length", () => {
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?$/);
    fc.assert(
      fc.property(digits, (text) => expectAsJsonParse(text)),
      { numRuns: 5000 },
    );
  });

  test("accepts and refuses the same texts as JSON.parse when they are built from JSON's own pieces", () => {
    const piece = fc.constantFrom(
      ...'{}[],:"\\ \n\t0123456789-+.eE'.split(""),
      '"a"',
      '"a":',
      "true",
      "false",
      "null",
      "\\u00",
      "\\ud83d",
      "\\udc00",
      "\\n",
      "é",
      "\u0000",
      "\u001f",
      "\u2028",
      "\ufeff",
      "NaN",
      "Infinity",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => expectAsJsonParse(pieces.join(""))),
      { numRuns: 6000 },
    );
  });

  test("accepts and refuses the same texts as JSON.parse after one character is changed", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ minLength: 0, maxLength: 1 }), (text, at, other) => {
        const place = at % (text.length + 1);
        expectAsJsonParse(text.slice(0, place) + other + text.slice(place + 1));
      }),
      { numRuns: 5000 },
    );
  });
});

describe("parseJson beyond JSON.parse", () => {
  test.each([
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["9007199254740993", 9007199254740993n],
    ["1794710396768536383", 1794710396768536383n],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775808", -9223372036854775808n],
    ["9223372036854775808", new NumberText("9223372036854775808")],
    ["-9223372036854775809", new NumberText("-9223372036854775809")],
    [`1${"0".repeat(100)}`, new NumberText(`1${"0".repeat(100)}`)],
  ])("keeps every digit of the integer %s", (text, expected) => {
    expect(parsed(text)).toStrictEqual(expected);
    expect(odditiesOf(text)).toBe(typeof expected === "number" ? 0 : oddity.bigInteger);
  });

  test("accepts NaN, Infinity and -Infinity and nothing like them", () => {
    expect(parsed("[NaN,Infinity,-Infinity]")).toStrictEqual([Number.NaN, Infinity, -Infinity]);
    expect(odditiesOf("NaN")).toBe(oddity.nonFinite);
    for (const text of ["-NaN", "+Infinity", "nan", "Inf", "-Inf", "NaNs", "Infinit", "--Infinity", "- Infinity"]) {
      expect(parseJson(text).ok, text).toBe(false);
    }
  });

  test("keeps the sign of zero", () => {
    expect(parsed("[-0,-0.0,0,0.0,-0e5]")).toStrictEqual([-0, -0, 0, 0, -0]);
  });

  test("takes the last of two equal keys and says so", () => {
    expect(parsed('{"1":"true","1":"str"}')).toStrictEqual({ 1: "str" });
    expect(odditiesOf('{"1":"true","1":"str"}')).toBe(oddity.duplicateKeys);
    expect(odditiesOf('{"a":1,"\\u0061":2}')).toBe(oddity.duplicateKeys);
    expect(odditiesOf('{"\\u0061":1,"a":2}')).toBe(oddity.duplicateKeys);
    expect(odditiesOf('{"a":1,"b":{"a":2}}')).toBe(0);
    expect(odditiesOf('{"ab":1,"ac":2,"b":3,"c":4,"":5}')).toBe(0);
  });

  test("notices equal keys in any object", () => {
    const key = fc.string({ maxLength: 3 });
    fc.assert(
      fc.property(fc.array(key, { maxLength: 50 }), (keys) => {
        const text = `{${keys.map((name) => `${JSON.stringify(name)}:0`).join()}}`;
        const expected = new Set(keys).size < keys.length ? oddity.duplicateKeys : 0;
        expect(odditiesOf(text) & oddity.duplicateKeys).toBe(expected);
      }),
    );
  });

  test("reads keys right whatever it expected from the texts before", () => {
    const key = fc.constantFrom(
      '"a"',
      '"ab"',
      '"abc"',
      '"a\\u0062"',
      '"é"',
      '"\\ud83d"',
      '"__proto__"',
      '"a" ',
      '" a"',
    );
    const object = fc.array(key, { maxLength: 6 }).map((keys) => `{${keys.map((k) => `${k}:{${k}: 1}`).join()}}`);
    fc.assert(
      fc.property(fc.array(object, { maxLength: 6 }), (objects) => {
        for (const text of objects) expectAsJsonParse(text);
        const lone = objects.some((text) => text.includes("ud83d")) ? oddity.loneSurrogate : 0;
        expect(odditiesOf(`[${objects.join()}]`) & oddity.loneSurrogate).toBe(lone);
      }),
      { numRuns: 1000 },
    );
  });

  test("keeps lone surrogates, NUL and line separators", () => {
    expect(parsed('"\\ud83d"')).toBe("\ud83d");
    expect(parsed('"x\\udc00\\ud83d\\ud83d\\ude80"')).toBe("x\udc00\ud83d🚀");
    expect(odditiesOf('{"\\ud800":1}')).toBe(oddity.loneSurrogate);
    expect(odditiesOf('"\\ud83d\\ude80"')).toBe(0);
    expect(parsed('"a\\u0000b\\u2028\u2029"')).toBe("a\0b\u2028\u2029");
    // A JavaScript string may itself hold half a pair, which UTF-8 cannot.
    expect(parsed('"\ud83d"')).toBe("\ud83d");
  });

  test("makes __proto__ an own property", () => {
    const value = parsed('{"__proto__":{"polluted":true},"constructor":1}') as Record<string, unknown>;
    expect(Object.keys(value)).toStrictEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("parseJson refuses", () => {
  test.each([
    ["", 0, "the text ends"],
    ["{", 1, "a key in quotes"],
    ['{"a"', 4, "':'"],
    ['{"a":1,}', 7, "a key in quotes"],
    ["[1,]", 3, "a value"],
    ["[1 2]", 3, "',' or ']'"],
    ["01", 1, "after the end"],
    ["1.", 2, "a digit"],
    ["-x", 1, "a digit"],
    ['"\\x"', 2, "escape"],
    ['"\\u12g4"', 5, "hex"],
    ['"abc', 4, "inside a string"],
    ['"\u0001"', 1, "control character 0x01"],
    ["truth", 3, "true"],
    ["\ufeff1", 0, "a value"],
  ])("%j at byte %i", (text, offset, reason) => {
    const result = parseJson(text);
    expect(result).toMatchObject({ ok: false, fault: { kind: "syntax", offset } });
    if (!result.ok) expect(result.fault.reason).toContain(reason);
  });

  test("every invalid UTF-8 sequence, with its offset, exactly as a strict decoder does", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5, min: 0x80 }), (inner) => {
        const text = new Uint8Array([0x22, ...inner, 0x22]);
        let expected: string | undefined;
        try {
          expected = decoder.decode(inner);
        } catch {
          expect(parseJson(text)).toMatchObject({ ok: false, fault: { kind: "syntax", reason: "invalid UTF-8" } });
          return;
        }
        expect(parseJson(text)).toStrictEqual({ ok: true, value: expected, oddities: 0 });
      }),
      { numRuns: 6000 },
    );
    expect(parseJson(new Uint8Array([0x22, 0x61, 0xff, 0x22]))).toMatchObject({ fault: { offset: 2 } });
  });

  test("nesting beyond the limit, on the byte where it goes too deep", () => {
    const limits = { depthMax: 3, bytesMax: 100 };
    expect(parseJson('[{"a":[1]}]', limits).ok).toBe(true);
    expect(parseJson('[{"a":[[1]]}]', limits)).toMatchObject({ ok: false, fault: { kind: "depth", offset: 7 } });
    expect(parseJson("[".repeat(1_000_000)).ok).toBe(false);
    const greedy = { depthMax: 1e9, bytesMax: 1e9 };
    expect(parseJson("[".repeat(1_000_000), greedy)).toMatchObject({ fault: { kind: "depth", offset: 2000 } });
  });

  test("a text larger than the limit, before reading it", () => {
    const limits = { depthMax: 3, bytesMax: 4 };
    expect(parseJson("1234", limits).ok).toBe(true);
    expect(parseJson("12345", limits)).toMatchObject({ ok: false, fault: { kind: "size" } });
  });

  test("garbage and truncated text, as a value and never by throwing", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void parseJson(bytes)));
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const bytes = encode(text);
        void parseJson(bytes.subarray(0, at % (bytes.length + 1)));
      }),
    );
  });
});

test("any text is read in steps as it is at once, or refused for the same reason", () => {
  const texts = fc.oneof(
    fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value, null, 1)),
    fc.constantFrom(
      '{"a":1,"a":2}',
      '{"__proto__":[NaN,{}]}',
      '["\\ud800",{"\\ud800":1}]',
      "[1,2",
      "[] x",
      '{"a":12345678901234567890}',
    ),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(atOnce(parseJsonInSteps(encode(text), defaultJsonLimits))).toEqual(parseJson(text));
    }),
  );
});
