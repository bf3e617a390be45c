// A disk for tests that forgets: what was not synced is gone, or there, or half there, after `losePower`.
// Folders are flat, as the journal's are. A file's name is as durable as the last sync of its folder.

import { dirname } from "node:path";
import type { Files, OpenFile } from "./files.ts";

interface MemoryFile {
  now: Uint8Array;
  synced: Uint8Array;
}

export interface MemoryFiles extends Files {
  /** The same disk after a loss of power; `choose` gives numbers in [0, 1) that decide what unsynced bytes survive. */
  losePower(choose: () => number): MemoryFiles;
  /** Changes stored bytes behind everyone's back. */
  damage(path: string, change: (bytes: Uint8Array) => Uint8Array): void;
  paths(): string[];
}

function failWith(code: string): never {
  throw Object.assign(new Error(code), { code });
}

export function createMemoryFiles(
  names: Map<string, MemoryFile> = new Map(),
  syncedNames: Map<string, MemoryFile> = new Map(names),
): MemoryFiles {
  return {
    async open(path, mode) {
      if (mode === "create" || mode === "create_synced") {
        if (names.has(path)) failWith("EEXIST");
        names.set(path, { now: new Uint8Array(), synced: new Uint8Array() });
      }
      const file = names.get(path);
      return file === undefined ? failWith("ENOENT") : openMemoryFile(file);
    },
    async rename(from, to) {
      names.set(to, names.get(from) ?? failWith("ENOENT"));
      names.delete(from);
    },
    async unlink(path) {
      if (!names.delete(path)) failWith("ENOENT");
    },
    list: async (folder) =>
      [...names.keys()].filter((path) => dirname(path) === folder).map((path) => path.slice(folder.length + 1)),
    makeFolder: async () => undefined,
    async syncFolder(folder) {
      for (const path of syncedNames.keys()) if (dirname(path) === folder) syncedNames.delete(path);
      for (const [path, file] of names) if (dirname(path) === folder) syncedNames.set(path, file);
    },
    losePower(choose) {
      const kept = new Map<string, MemoryFile>();
      for (const path of new Set([...names.keys(), ...syncedNames.keys()])) {
        const file = choose() < 0.5 ? syncedNames.get(path) : names.get(path);
        if (file !== undefined) kept.set(path, afterPowerLoss(file, choose));
      }
      return createMemoryFiles(kept);
    },
    damage(path, change) {
      const file = names.get(path) ?? failWith("ENOENT");
      file.now = change(file.now);
      file.synced = file.now.slice();
    },
    paths: () => [...names.keys()].sort(),
  };
}

function openMemoryFile(file: MemoryFile): OpenFile {
  return {
    async write(buffers, position) {
      const bytes = Buffer.concat(buffers);
      const grown = new Uint8Array(Math.max(file.now.length, position + bytes.length));
      grown.set(file.now);
      grown.set(bytes, position);
      file.now = grown;
      return bytes.length;
    },
    async read(into, position) {
      const part = file.now.subarray(position, position + into.length);
      into.set(part);
      return part.length;
    },
    async fdatasync() {
      file.synced = file.now;
    },
    size: async () => file.now.length,
    async truncate(bytes) {
      file.now = file.now.slice(0, bytes);
    },
    close: async () => undefined,
  };
}

// Of the unsynced tail some 8-byte pieces reached the disk and others, also earlier ones, are zeros.
function afterPowerLoss(file: MemoryFile, choose: () => number): MemoryFile {
  const { now, synced } = file;
  const length = synced.length + Math.floor(choose() * (Math.max(0, now.length - synced.length) + 1));
  const bytes = new Uint8Array(length);
  bytes.set(synced.subarray(0, length));
  for (let at = synced.length; at < length; at += 8) {
    if (choose() < 0.8) bytes.set(now.subarray(at, Math.min(at + 8, length)), at);
  }
  return { now: bytes, synced: bytes };
}
