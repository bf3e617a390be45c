import { expect, test } from "vitest";
import { formatExactly, parseExactly } from "./exact-integers.ts";

test("whole numbers of any length are read and written with their digits, and others as doubles", () => {
  const text = '{"seed":-12345678901234567890,"lr":[0.1,1e+300,9007199254740991],"name":"9007199254740993"}';
  const value = parseExactly(text);
  expect(value).toEqual({
    seed: -12345678901234567890n,
    lr: [0.1, 1e300, 9007199254740991],
    name: "9007199254740993",
  });
  expect(formatExactly(value)).toBe(text);
});
