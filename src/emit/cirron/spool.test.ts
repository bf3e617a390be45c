import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { diskFiles, type Files } from "./files.ts";
import { Spool } from "./spool.ts";

const makeSpoolFolder = (): string => join(makeFolder(), "spool");

const batchId = (n: number) => n.toString(16).padStart(32, "0");
const body = (n: number, size = 100) => Buffer.from(JSON.stringify({ n, fill: "x".repeat(size) }));
const write = (spool: Spool, n: number, size?: number) => spool.write(String(1794e15 + n), batchId(n), body(n, size));

/** Real files, of which the n-th writing call (and the following `times`) fails as a full disk does. */
function failingFiles(from: number, times: number): Files & { calls: string[] } {
  const calls: string[] = [];
  const guard = (name: string, path: string) => {
    calls.push(`${name} ${path}`);
    if (calls.length >= from && calls.length < from + times)
      throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  };
  return {
    calls,
    ...diskFiles,
    write: (path, bytes) => {
      guard("write", path);
      diskFiles.write(path, bytes);
    },
    rename: (a, b) => {
      guard("rename", b);
      diskFiles.rename(a, b);
    },
  };
}

it("names files by 20 digits of time and the batch id, so that they sort by time [CT-01, CT-02]", () => {
  const folder = makeSpoolFolder();
  const spool = new Spool(folder, 1e9);
  spool.write("1794710657812726760", batchId(1), body(1));
  spool.write("999", batchId(2), body(2));
  expect(readdirSync(folder).sort()).toEqual([
    `00000000000000000999-${batchId(2)}.json`,
    `01794710657812726760-${batchId(1)}.json`,
  ]);
});

it("writes under a temporary name and renames [CT-03]", () => {
  const folder = makeSpoolFolder();
  const files = failingFiles(Number.POSITIVE_INFINITY, 0);
  const spool = new Spool(folder, 1e9, files);
  write(spool, 1);
  const name = readdirSync(folder)[0] as string;
  expect(files.calls).toEqual([`write ${join(folder, `${name}.tmp`)}`, `rename ${join(folder, name)}`]);
});

it("evicts the oldest batches first when the cap is reached, also those of others [CT-04]", () => {
  const folder = makeSpoolFolder();
  mkdirSync(folder, { recursive: true });
  const foreign = `00000000000000000001-${batchId(99)}.json`;
  writeFileSync(join(folder, foreign), "x".repeat(500));
  writeFileSync(join(folder, "notes.txt"), "x".repeat(10_000));
  const spool = new Spool(folder, 1000);
  for (let n = 1; n <= 12; n++) write(spool, n);
  const left = readdirSync(folder).sort();
  expect(left).toContain("notes.txt");
  expect(left).not.toContain(foreign);
  const batches = left.filter((name) => name.endsWith(".json"));
  const bytes = batches.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(1000);
  const newest = Array.from({ length: batches.length }, (_, i) => 13 - batches.length + i);
  expect(batches.map((name) => Number.parseInt(name.slice(-37, -5), 16))).toEqual(newest);
  expect(spool.counts).toMatchObject({ written: 12, evicted: 13 - batches.length, lost: 0 });
});

it("never shows a torn batch when the disk is full, and writes the rest when there is room again [CT-03]", () => {
  for (let from = 1; from <= 8; from++) {
    const folder = makeSpoolFolder();
    const spool = new Spool(folder, 1e9, failingFiles(from, 3));
    for (let n = 1; n <= 6; n++) write(spool, n);
    spool.writeWaiting();
    const names = readdirSync(folder).sort();
    expect(names).toHaveLength(6);
    for (const [i, name] of names.entries())
      expect(JSON.parse(readFileSync(join(folder, name), "utf8"))).toMatchObject({ n: i + 1 });
    expect(spool.counts).toMatchObject({ written: 6, lost: 0, waitingBytes: 0 });
  }
});

it("holds at most 16 MB for a disk that takes nothing, and counts what it gave up", () => {
  const folder = makeSpoolFolder();
  const spool = new Spool(folder, 1e9, failingFiles(1, Number.POSITIVE_INFINITY));
  for (let n = 1; n <= 20; n++) expect(write(spool, n, 2_000_000)).toBe(false);
  expect(spool.counts.waitingBytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(spool.counts.lost).toBe(12);
});

it("makes its folder again when someone removed it", () => {
  const folder = makeSpoolFolder();
  const spool = new Spool(folder, 1e9);
  write(spool, 1);
  rmSync(folder, { recursive: true });
  write(spool, 2);
  write(spool, 3);
  expect(readdirSync(folder)).toHaveLength(2);
});
