import { expect, test } from "vitest";
import { toHexRows } from "./hex-rows.ts";

test("shows offset, bytes and readable characters", () => {
  const base64 = btoa(`{"v":1}\u0000\n${"x".repeat(8)}`);
  expect(toHexRows(base64, 512)).toEqual([
    '000000  7b 22 76 22 3a 31 7d 00 0a 78 78 78 78 78 78 78  {"v":1}··xxxxxxx',
    `000010  78${" ".repeat(45)}  x`,
  ]);
});
