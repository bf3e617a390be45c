import fc from "fast-check";
import { expect, it } from "vitest";
import { formatFloat, formatObject, formatValue, quote } from "./json-text.ts";

it("gives back every value that JSON can say", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // Minus zero comes back, which JSON.stringify would lose.
      expect(JSON.parse(formatValue(value))).toEqual(value);
    }),
  );
});

it("never throws and always writes JSON, whatever it is given", () => {
  const readable = (text: string) => text.replaceAll(/(?<=[[:,]|^)-?(NaN|Infinity)(?=[\],}]|$)/g, "0");
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withSparseArray: true,
        withNullPrototype: true,
        withObjectString: true,
      }),
      (value) => {
        expect(() => JSON.parse(readable(formatValue(value)))).not.toThrow();
        if (typeof value === "object" && value !== null) expect(formatObject(value)).toMatch(/^\{.*\}$/s);
      },
    ),
  );
});

it("describes what JSON cannot say", () => {
  class Point {
    x = 1;
    toJSON() {
      return { px: this.x };
    }
  }
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const circular: unknown[] = [];
  circular.push(circular);
  expect(formatValue(new Point())).toBe('{"px":1}');
  expect(formatValue(revoked.proxy)).toBe('"[unreadable]"');
  expect(formatValue(circular)).toBe('["[circular]"]');
  expect(formatValue(new Error("no"))).toBe('"Error: no"');
  expect(formatValue(new Map([["a", new Set([1n])]]))).toBe('{"a":[1]}');
  expect(formatValue(Symbol("s"))).toBe('"Symbol(s)"');
  expect(formatValue(undefined)).toBe("null");
  expect(formatValue(new DataView(new ArrayBuffer(3)))).toBe('"[DataView of 3 bytes]"');
  expect(formatValue(new Uint8Array(10_001))).toMatch(/,0,"\[1 more\]"\]$/);
  let deep: unknown = 1;
  for (let i = 0; i < 100; i++) deep = { deep };
  expect(formatValue(deep)).toContain("[too deep]");
});

it("reads a bounded part of objects that share others, however many paths lead through them", () => {
  let shared: unknown = "end";
  for (let level = 0; level < 25; level++) shared = [shared, shared];
  const text = formatValue({ shared, after: 1 });
  expect(text.includes('"[1 more]"')).toBe(true);
  expect(text.length).toBeLessThan(2_000_000);
  expect(() => JSON.parse(text)).not.toThrow();
}, 20_000);

it("writes floats so that they read back as floats", () => {
  expect([1, -0, 0, 1e21, 5e-324, 0.1, -3, Number.NaN].map(formatFloat)).toEqual([
    "1.0",
    "-0.0",
    "0.0",
    "1e+21",
    "5e-324",
    "0.1",
    "-3.0",
    "NaN",
  ]);
});

it("quotes any name, lone surrogates as escapes", () => {
  expect(quote('a"\n')).toBe('"a\\"\\n"');
  expect(quote("\ud800")).toBe('"\\ud800"');
  expect(quote(7 as unknown as string)).toBe('"7"');
});
