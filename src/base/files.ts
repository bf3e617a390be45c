// The few file operations that durable code is built from, behind one small interface. The journal and the outbox use
// nothing else, and tests implement it with disks that fail or forget: failing each call in turn covers every way a disk can
// fail.

import { constants } from "node:fs";
import * as fs from "node:fs/promises";

/**
 * `create` fails when the path exists; `update` reads and writes a file that is there. `create_synced` is for a file whose every
 * write is synced: where the system can do both in one call, `write` does, and `fdatasync` has nothing left to do. That saves
 * waiting for a second answer.
 */
export type OpenMode = "read" | "create" | "create_synced" | "update";

export interface OpenFile {
  /** Writes at a byte position and says how many bytes went in, which may be fewer than given. */
  write(buffers: readonly Uint8Array[], position: number): Promise<number>;
  /** Fills `into` from a byte position and says how many bytes came, 0 at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Returns when the file's bytes and size are on the disk. After a failure nothing is known about them. */
  fdatasync(): Promise<void>;
  size(): Promise<number>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface Files {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** The names in a folder, in no order. */
  list(folder: string): Promise<string[]>;
  /** Makes a folder and its parents; an existing one is fine. */
  makeFolder(folder: string): Promise<void>;
  /** Returns when the folder's entries (created, renamed and removed names) are on the disk. */
  syncFolder(folder: string): Promise<void>;
}

/** On other systems O_DSYNC leaves bytes in the disk's own cache, or does not exist. */
const canSyncWrites = process.platform === "linux";
const create = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const flags = {
  read: constants.O_RDONLY,
  create,
  create_synced: canSyncWrites ? create | constants.O_DSYNC : create,
  update: constants.O_RDWR,
} as const satisfies Record<OpenMode, number>;

export const nodeFiles: Files = {
  async open(path, mode) {
    const handle = await fs.open(path, flags[mode], 0o600);
    const isSynced = mode === "create_synced" && canSyncWrites;
    return {
      async write(buffers, position) {
        const only = buffers.length === 1 ? buffers[0] : undefined;
        if (only !== undefined) return (await handle.write(only, 0, only.length, position)).bytesWritten;
        return (await handle.writev(buffers, position)).bytesWritten;
      },
      read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
      fdatasync: () => (isSynced ? Promise.resolve() : handle.datasync()),
      size: async () => (await handle.stat()).size,
      truncate: (bytes) => handle.truncate(bytes),
      close: () => handle.close(),
    };
  },
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  list: (folder) => fs.readdir(folder),
  async makeFolder(folder) {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  },
  async syncFolder(folder) {
    const handle = await fs.open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** Writes all of the buffers, however many calls that takes. The buffers are not changed. */
export async function writeWhole(file: OpenFile, buffers: readonly Uint8Array[], position: number): Promise<void> {
  let rest = buffers.filter((buffer) => buffer.length > 0);
  let at = position;
  while (rest.length > 0) {
    const written = await file.write(rest, at);
    // A disk that takes nothing and reports no error would keep us here forever.
    if (written <= 0) throw Object.assign(new Error("The file took no bytes."), { code: "EIO" });
    at += written;
    rest = dropBytes(rest, written);
  }
}

function dropBytes(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  let left = count;
  let first = 0;
  for (; first < buffers.length; first++) {
    const length = (buffers[first] as Uint8Array).length;
    if (left < length) break;
    left -= length;
  }
  const rest = buffers.slice(first);
  if (left > 0) rest[0] = (rest[0] as Uint8Array).subarray(left);
  return rest;
}

/** Reads until `into` is full or the file ends, and says how many bytes came. */
export async function readWhole(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const count = await file.read(filled === 0 ? into : into.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}
