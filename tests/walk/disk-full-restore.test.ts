// A restore onto a disk that has no room for all of it.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { encodeTarHeader, tarBlockBytes, tarPadding } from "#base/tar.ts";
import { runInTest } from "#cli/run-cli.testing.ts";

test("a file of which the disk took only a part is missed, and nothing is left", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-restore-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const disk = mkdtempSync(join(tmpdir(), "tributary-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2500k", "tmpfs", disk], { stdio: "ignore" });
  } catch {
    rmSync(disk, { recursive: true });
    return skip("no disk can be mounted");
  }
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", disk]);
    rmSync(disk, { recursive: true, force: true });
  });
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
