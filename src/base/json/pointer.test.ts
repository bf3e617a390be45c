import { expect, it } from "vitest";
import { atPointer, itemBytes, locatePointer, memberTexts } from "./pointer.ts";

const encoder = new TextEncoder();

it("locates the value at every pointer of a record", () => {
  const line = encoder.encode('{"a": [1, {"b~/": "x", "b~/": 2}], "\\u0061a": {}}');
  const text = new TextDecoder().decode(line);
  expect(locatePointer(line, "/a/1/b~0~1")).toBe(text.indexOf("2"));
  expect(locatePointer(line, "/aa")).toBe(text.indexOf("{}"));
  expect(locatePointer(line, "/a/7/x")).toBe(text.indexOf("["));
  expect(locatePointer(line, "")).toBe(0);
});

it("gives the value at a pointer, and nothing for keys that objects inherit", () => {
  const value = { a: [{ "x/y": 1 }], n: null };
  expect(atPointer(value, "/a/0/x~1y")).toBe(1);
  expect(atPointer(value, "/n")).toBeNull();
  expect(atPointer(value, "/n/x")).toBeUndefined();
  expect(atPointer(value, "/constructor")).toBeUndefined();
  expect(atPointer(value, "")).toBe(value);
});

it("gives an object's members as they were written", () => {
  const line = encoder.encode('{"p": {"a": 1.0, "b": [ NaN, 1e+22 ], "c": "\\u00e9"}, "q": 1}');
  expect([...memberTexts(line, "/p")]).toEqual([
    ["a", "1.0"],
    ["b", '["NaN",1e+22]'],
    ["c", '"\\u00e9"'],
  ]);
  expect(memberTexts(line, "/q").size).toBe(0);
  expect(memberTexts(line, "/none").size).toBe(0);
});

it("gives an array's items as they were written", () => {
  const items = itemBytes(encoder.encode('{"l": [1.0 , {"a": 2}]}'), "/l");
  expect(items.map((item) => new TextDecoder().decode(item))).toEqual(["1.0", '{"a": 2}']);
  expect(itemBytes(encoder.encode('{"l": {}}'), "/l")).toEqual([]);
  expect(itemBytes(encoder.encode("{}"), "/l")).toEqual([]);
});
