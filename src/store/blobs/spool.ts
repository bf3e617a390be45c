// Takes a stream into a file, counting and hashing on the way, and makes the file durable.

import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { BlobOutage } from "./blob-store.ts";

export interface Spooled {
  readonly size: number;
  readonly sha256: string;
}

/** On any failure the file is removed and the error thrown: the source's own, or an outage of the disk. */
export async function spool(path: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Spooled> {
  const file = await open(path, "wx", 0o600).catch((cause) => {
    throw toBlobOutage("cannot create a file for a blob", cause);
  });
  try {
    const spooled = await fill(file, source, bytesMax);
    await file.sync().catch((cause) => {
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

async function fill(file: FileHandle, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Spooled> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of source) {
    if (size + chunk.length > bytesMax) throw new BlobOutage("too_large", `a blob may have at most ${bytesMax} bytes`);
    hash.update(chunk);
    let at = 0;
    while (at < chunk.length) {
      const { bytesWritten } = await file.write(chunk, at, chunk.length - at, size + at).catch((cause) => {
        throw toBlobOutage("cannot write a blob", cause);
      });
      at += bytesWritten;
    }
    size += chunk.length;
  }
  return { size, sha256: hash.digest("hex") };
}

const fullCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export function toBlobOutage(message: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !("code" in cause)) return cause;
  if (cause.code === "ENOENT") return new BlobOutage("missing", message, cause);
  return new BlobOutage(fullCodes.has(cause.code) ? "disk_full" : "unavailable", message, cause);
}
