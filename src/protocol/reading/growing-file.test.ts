import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { GrowingFile } from "./growing-file.ts";

let folder: string;
let path: string;
let file: GrowingFile;
beforeEach(() => {
  folder = makeFolder();
  path = join(folder, "lines");
  file = new GrowingFile(path);
});
afterEach(async () => {
  await file.close();
});

const next = async () => {
  const chunk = await file.read();
  return chunk === undefined ? undefined : { text: Buffer.from(chunk.bytes).toString(), restarted: chunk.restarted };
};

it("gives what is added, and nothing when nothing is", async () => {
  writeFileSync(path, "one\n");
  expect(await next()).toEqual({ text: "one\n", restarted: false });
  expect(await next()).toBeUndefined();
  appendFileSync(path, "two\n");
  expect(await next()).toEqual({ text: "two\n", restarted: false });
});

it("begins again when the file is cut, or another takes its name", async () => {
  writeFileSync(path, "one\ntwo\n");
  await next();
  writeFileSync(path, "new\n");
  expect(await next()).toEqual({ text: "new\n", restarted: true });
  writeFileSync(`${path}.next`, "other\n");
  renameSync(`${path}.next`, path);
  expect(await next()).toEqual({ text: "other\n", restarted: true });
});

it("begins again when the file was written anew and is longer than before", async () => {
  writeFileSync(path, "one\n");
  await next();
  writeFileSync(path, "first of the new ones\nsecond\n");
  expect(await next()).toEqual({ text: "first of the new ones\nsecond\n", restarted: true });
  // The same last bytes before our place, and another beginning.
  writeFileSync(path, `${"a".repeat(8000)}end\n`);
  expect((await next())?.restarted).toBe(true);
  writeFileSync(path, `${"b".repeat(100)}${"a".repeat(7900)}end\nmore\n`);
  expect((await next())?.restarted).toBe(true);
});
