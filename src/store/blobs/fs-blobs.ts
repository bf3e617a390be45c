// Blobs in a folder. A blob appears under its key whole and durable or not at all: it is written elsewhere and synced,
// then linked to its name, which fails if the name is taken, and every folder on the way is synced.

import { createReadStream } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { codeOf } from "#base/disk-outage.ts";
import { nodeFiles } from "#base/files.ts";
import { BlobOutage, type BlobStore, type ByteRange, type PutOptions, type Stored } from "./blob-store.ts";
import { spool, toBlobOutage } from "./spool.ts";

const incoming = "incoming";

export async function createFsBlobs(folder: string): Promise<BlobStore> {
  const root = resolve(folder);
  await makeFolder(join(root, incoming), root);
  // A half-written file of a stopped process has no name yet and was never acknowledged.
  for (const name of await readdir(join(root, incoming))) await rm(join(root, incoming, name), { force: true });
  return new FsBlobs(root);
}

class FsBlobs implements BlobStore {
  readonly kind = "fs";
  readonly isAway = false;
  private readonly root: string;
  private serial = 0;

  constructor(root: string) {
    this.root = root;
  }

  async put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<Stored> {
    const path = this.pathOf(key);
    const beside = join(this.root, incoming, `${process.pid}-${this.serial++}`);
    const { size, sha256 } = await spool(beside, source, options.bytesMax ?? Number.POSITIVE_INFINITY);
    try {
      await makeFolder(dirname(path), this.root);
      const created = await place(beside, path);
      await nodeFiles.syncFolder(dirname(path));
      return { size, sha256, created };
    } catch (cause) {
      throw toBlobOutage(`cannot store ${key}`, cause);
    } finally {
      await rm(beside, { force: true });
    }
  }

  async size(key: string): Promise<number | null> {
    try {
      return (await stat(this.pathOf(key))).size;
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return null;
      throw toBlobOutage(`cannot look at ${key}`, cause);
    }
  }

  async *read(key: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    if (range !== undefined && range.end <= range.start) return;
    const options = range === undefined ? {} : { start: range.start, end: range.end - 1 };
    try {
      yield* createReadStream(this.pathOf(key), options) as AsyncIterable<Uint8Array>;
    } catch (cause) {
      throw toBlobOutage(`cannot read ${key}`, cause);
    }
  }

  async move(from: string, to: string): Promise<void> {
    const [source, target] = [this.pathOf(from), this.pathOf(to)];
    try {
      await makeFolder(dirname(target), this.root);
      await place(source, target).catch((cause) => {
        if (codeOf(cause) !== "ENOENT") throw cause;
      });
      await nodeFiles.syncFolder(dirname(target));
      // The old name goes only when the new one is safe.
      await stat(target);
      await rm(source, { force: true });
    } catch (cause) {
      throw toBlobOutage(`cannot move ${from}`, cause);
    }
  }

  async delete(key: string): Promise<void> {
    try {
      await rm(this.pathOf(key), { force: true });
    } catch (cause) {
      throw toBlobOutage(`cannot delete ${key}`, cause);
    }
  }

  async deletePrefix(prefix: string): Promise<number> {
    if (!prefix.endsWith("/")) throw new BlobOutage("refused", `a prefix ends with a slash: ${prefix}`);
    const path = this.pathOf(prefix.slice(0, -1));
    try {
      const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
      await rm(path, { recursive: true, force: true });
      await nodeFiles.syncFolder(dirname(path));
      return files.length;
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return 0;
      throw toBlobOutage(`cannot delete ${prefix}`, cause);
    }
  }

  async close(): Promise<void> {}

  /** Keys are made of safe segments; one that would leave the folder is a bug or an attack. */
  private pathOf(key: string): string {
    const path = resolve(this.root, key);
    const inside = path.startsWith(this.root + sep) && !path.startsWith(join(this.root, incoming) + sep);
    if (!inside || key.includes("\0")) throw new BlobOutage("refused", `not the key of a blob: ${JSON.stringify(key)}`);
    return path;
  }
}

/** Gives a file its name unless the name is taken; returns whether it did. */
async function place(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    if (codeOf(cause) !== "EPERM" && codeOf(cause) !== "ENOTSUP") throw cause;
    // Without hard links, checking and taking the name cannot be one step.
    if (await exists(to)) return false;
    await rename(from, to);
    return true;
  }
  await unlink(from);
  return true;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Makes a folder and syncs the parent of each level that is new, down from `root`. */
async function makeFolder(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const top = dirname(first).startsWith(root) ? dirname(first) : root;
  for (let at = dirname(folder); at.startsWith(top); at = dirname(at)) {
    await nodeFiles.syncFolder(at);
    if (at === top || at === dirname(at)) break;
  }
}
