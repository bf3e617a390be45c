import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { decodeTarHeader, encodeTarHeader, tarBlockBytes, tarPadding } from "./tar.ts";

it("reads back what it writes, also sizes beyond 8 GiB", () => {
  for (const sizeBytes of [0, 1, 512, 8 ** 11 - 1, 8 ** 11, 5_000_000_000_000]) {
    expect(decodeTarHeader(encodeTarHeader({ name: "a/b.bin", sizeBytes }))).toEqual({ name: "a/b.bin", sizeBytes });
  }
  expect([tarPadding(0), tarPadding(1), tarPadding(512)]).toEqual([0, 511, 0]);
});

it("refuses a block that is no header, and knows the end", () => {
  expect(decodeTarHeader(new Uint8Array(tarBlockBytes))).toBeUndefined();
  expect(() => decodeTarHeader(new Uint8Array(tarBlockBytes).fill(65))).toThrow("no tar archive");
});

it("writes what tar itself reads", () => {
  const parts = [
    encodeTarHeader({ name: "hello.txt", sizeBytes: 5 }),
    Buffer.from("hello"),
    new Uint8Array(507),
    new Uint8Array(1024),
  ];
  const listed = execFileSync("tar", ["-tvf", "-"], { input: Buffer.concat(parts), encoding: "utf8" });
  expect(listed).toMatch(/ 5 .*hello\.txt\n$/);
});
