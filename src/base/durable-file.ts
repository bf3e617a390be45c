// Small files that are replaced as a whole: a position, a plan, an id. The reader sees the old bytes or the new
// ones, never a mixture, and after `writeDurably` returns it sees the new ones even if the power fails.
//
//   0  4  CRC-32 of the rest, little-endian
//   4     the bytes

import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { codeOf, toOutage } from "./disk-outage.ts";
import { type Files, nodeFiles, readWhole, writeWhole } from "./files.ts";

/** Writes the parts beside the file, one after the other, syncs, renames over it, syncs the folder. */
export async function writeDurably(files: Files, path: string, parts: readonly Uint8Array[]): Promise<void> {
  const beside = `${path}.tmp`;
  try {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(parts.reduce((crc, part) => crc32(part, crc), 0));
    await writeSynced(files, beside, [checksum, ...parts]);
    await files.rename(beside, path);
    await files.syncFolder(dirname(path));
  } catch (cause) {
    throw toOutage("A file could not be made durable.", cause);
  }
}

/** Writes a file anew and syncs its bytes. Its name is durable once its folder is synced. */
export async function writeSynced(files: Files, path: string, parts: readonly Uint8Array[]): Promise<void> {
  await files.unlink(path).catch(() => undefined);
  const file = await files.open(path, "create");
  try {
    await writeWhole(file, parts, 0);
    await file.fdatasync();
  } finally {
    await file.close();
  }
}

/** The bytes last written, or undefined when there are none or they are damaged. */
export async function readDurable(files: Files, path: string): Promise<Uint8Array | undefined> {
  const whole = await readFile(files, path);
  if (whole === undefined || whole.length < 4) return undefined;
  const bytes = whole.subarray(4);
  return crc32(bytes) === whole.readUInt32LE(0) ? new Uint8Array(bytes) : undefined;
}

/** All that a file holds; undefined when there is none. */
export async function readFile(files: Files, path: string): Promise<Buffer | undefined> {
  try {
    const file = await files.open(path, "read");
    try {
      const whole = Buffer.alloc(await file.size());
      return whole.subarray(0, await readWhole(file, whole, 0));
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw toOutage("A file could not be read.", cause);
  }
}

export async function readDurableText(path: string): Promise<string | undefined> {
  const bytes = await readDurable(nodeFiles, path);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

export function writeDurableText(path: string, text: string): Promise<void> {
  return writeDurably(nodeFiles, path, [new TextEncoder().encode(text)]);
}

/**
 * For a few bytes without a checksum, whose readers can tell when they are cut off: `w` replaces a file, `wx` fails when it
 * exists, `a` appends. Returns when the bytes and the name of the file are on the disk.
 */
export function writeSyncedNow(path: string, bytes: Uint8Array | string, flag: "w" | "wx" | "a"): void {
  const file = openSync(path, flag, 0o600);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
