// Commands that write to a disk that has no room for all of it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { FileBody } from "#api/handler.ts";
import { encodeTarHeader, tarBlockBytes, tarPadding } from "#base/tar.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import { openServer } from "#server/http/open-server.testing.ts";
import { mountDisk } from "../support/small-disk.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const diskBytes = 2500 * 1024;

test("a restore misses a file of which the disk took only a part, and leaves nothing", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const disk = mountDisk(String(diskBytes));
  if (disk === null) return skip("no disk can be mounted");
  // It ends in the midst of the last piece that is written, and nothing is written after that.
  const blob = Buffer.alloc(3 << 20, 7);
  const sha256 = createHash("sha256").update(blob).digest("hex");
  const part = { entry: "blobs/0", name: "k", sizeBytes: blob.length, sha256 };
  const manifest = Buffer.from(JSON.stringify({ format: 1, collector: "c", position: 0, tables: [], blobs: [part] }));
  const entries = [
    ["manifest.json", manifest],
    [part.entry, blob],
  ] as const;
  const archive = join(folder, "backup.tar");
  const parts = entries.map(([name, bytes]) =>
    Buffer.concat([encodeTarHeader({ name, sizeBytes: bytes.length }), bytes, Buffer.alloc(tarPadding(bytes.length))]),
  );
  writeFileSync(archive, Buffer.concat([...parts, Buffer.alloc(2 * tarBlockBytes)]));
  const { code, err } = await runInTest(["restore", archive, "--data", join(disk, "data")]);
  expect([code, err]).toEqual([3, "error Not all could be written: the disk is full.\n"]);
  expect(readdirSync(disk)).toEqual([]);
});

/** Runs the program with its output in a file. */
async function exportInto(path: string, bytes: number): Promise<{ code: unknown; err: string }> {
  const exported = () => new FileBody("application/x-ndjson", Buffer.alloc(bytes, "x"), "run.jsonl");
  const server = await openServer({ handlers: { exportRun: exported as never } });
  const file = openSync(path, "w");
  const words = [main, "export", "r", "--server", server.url];
  const child = spawn(process.execPath, words, { stdio: ["ignore", file, "pipe"] });
  const [err, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, "close")]);
  closeSync(file);
  await server.close();
  return { code, err };
}

test("an export into a file says that not all of it could be written, though only the last bytes are missing", async ({
  skip,
}) => {
  const disk = mountDisk(String(diskBytes));
  if (disk === null) return skip("no disk can be mounted");
  const path = join(disk, "run.jsonl");
  expect(await exportInto(path, diskBytes)).toEqual({ code: 0, err: "" });
  expect(await exportInto(path, diskBytes + 100)).toEqual({
    code: 3,
    err: "error Not all could be written: the disk is full.\n",
  });
});
