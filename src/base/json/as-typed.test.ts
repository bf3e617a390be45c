import { expect, test } from "vitest";
import { parseTyped } from "./as-typed.ts";

test("numbers go out with the digits they were typed with", () => {
  const text = '{"seed":12345678901234567890,"lr":[0.10,1e-4,-0],"name":"9007199254740993","on":true,"none":null}';
  expect(JSON.stringify(parseTyped(text))).toBe(text);
});

test("what is no JSON is refused", () => {
  expect(() => parseTyped('{"seed":01}')).toThrow(SyntaxError);
});
