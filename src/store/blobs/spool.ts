// Writes a stream to a file, counts and hashes it on the way, and makes the file durable.

import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { codeOf, fullCodes } from "#base/disk-outage.ts";
import { nodeFiles, type OpenFile, writeWhole } from "#base/files.ts";
import { BlobOutage } from "./blob-store.ts";

export interface Spooled {
  readonly size: number;
  readonly sha256: string;
}

/** On any failure the file is removed and the error thrown: the source's own, or an outage of the disk. */
export async function spool(path: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Spooled> {
  const file = await nodeFiles.open(path, "create").catch((cause) => {
    throw toBlobOutage("cannot create a file for a blob", cause);
  });
  try {
    const spooled = await fill(file, source, bytesMax);
    await file.fdatasync().catch((cause) => {
      throw toBlobOutage("cannot make a blob durable", cause);
    });
    await file.close();
    return spooled;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

async function fill(file: OpenFile, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Spooled> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of source) {
    if (size + chunk.length > bytesMax) throw new BlobOutage("too_large", `a blob may have at most ${bytesMax} bytes`);
    hash.update(chunk);
    await writeWhole(file, [chunk], size).catch((cause) => {
      throw toBlobOutage("cannot write a blob", cause);
    });
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

export function toBlobOutage(message: string, cause: unknown): unknown {
  const code = codeOf(cause);
  if (code === "") return cause;
  if (code === "ENOENT") return new BlobOutage("missing", message, cause);
  return new BlobOutage(fullCodes.has(code) ? "disk_full" : "unavailable", message, cause);
}
