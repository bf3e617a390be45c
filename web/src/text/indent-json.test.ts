import { expect, test } from "vitest";
import { indentJson } from "./indent-json.ts";

test("indents without touching numbers, duplicates or text", () => {
  expect(indentJson('{"a":1794710577346193084,"a":[1.0, -0.0],"s":"x{,\\"y"}')).toBe(
    '{\n  "a": 1794710577346193084,\n  "a": [\n    1.0,\n    -0.0\n  ],\n  "s": "x{,\\"y"\n}',
  );
});

test("keeps empty lists and objects on one line", () => {
  expect(indentJson('{"a":{ },"b":[]}')).toBe('{\n  "a": {},\n  "b": []\n}');
});

test("cuts what is too long and says so", () => {
  expect(indentJson(`["${"x".repeat(100)}"]`, 20)).toMatch(/…$/);
});
