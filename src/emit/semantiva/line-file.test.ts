import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { LineFile } from "./line-file.ts";

const line = Buffer.from(`${"x".repeat(1023)}\n`);

it("appends whole lines, in their order", () => {
  const path = `${makeFolder()}/later/lines`;
  const file = new LineFile(path);
  const lines = Array.from({ length: 300 }, (_, at) => `${at} ${"x".repeat(at * 7)}\n`);
  for (const text of lines) file.append(Buffer.from(text));
  file.close();
  expect(readFileSync(path, "utf8")).toBe(lines.join(""));
  expect(file.lost).toBe(0);
});

it("writes again, and takes lines again, once the disk does", () => {
  const folder = `${makeFolder()}/taken`;
  writeFileSync(folder, "");
  const file = new LineFile(`${folder}/lines`);
  for (let count = 0; count < 17_000; count++) file.append(line);
  const { lost } = file;
  expect(lost).toBe(17_000 - 16 * 1024);
  rmSync(folder);
  for (let count = 0; count < 200; count++) file.append(line);
  file.close();
  expect(file.lost - lost).toBeLessThanOrEqual(64);
  expect(readFileSync(`${folder}/lines`).length).toBe((17_200 - file.lost) * line.length);
});

it.runIf(existsSync("/dev/full"))("holds nobody up while the disk is full", () => {
  const file = new LineFile("/dev/full");
  const startMs = performance.now();
  for (let count = 0; count < 20_000; count++) file.append(line);
  file.close();
  expect(performance.now() - startMs).toBeLessThan(1000);
  expect(file.lost).toBe(20_000);
});
