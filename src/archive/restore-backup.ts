// Restores an archive of `backup.ts` into an empty data folder. Everything is unpacked and its checksums compared before
// anything is filled. The unpacked files lie in the folder itself, since a volume has no room beside it, and are removed
// last: as long as they are there, the folder is half restored. After a failure nothing is left.

import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeDurableText } from "#base/durable-file.ts";
import { decodeTarHeader, tarBlockBytes, tarPadding } from "#base/tar.ts";
import { createFsBlobs } from "#store/blobs/fs-blobs.ts";
import { createStore } from "#store/client.ts";
import { countTable, fillTable } from "#store/reader/whole-tables.ts";
import { migrate } from "#store/schema/migrate.ts";
import { createOutbox } from "#store/writer/outbox.ts";
import type { BackupManifest } from "./backup.ts";
import { unpackedName } from "./unfinished-restore.ts";

export class BackupError extends Error {
  readonly kind = "backup";
}

/** The folder has something in it, which stays. */
export class RestoreFolderError extends Error {
  readonly kind = "restore_folder";
}

export interface Restored {
  readonly tables: number;
  readonly rows: number;
  readonly blobs: number;
}

/** Throws a BackupError when the archive is damaged, a RestoreFolderError when the folder is not empty. */
export async function restoreBackup(archive: string, dataDir: string): Promise<Restored> {
  const wasThere = await isEmptyFolder(dataDir);
  const unpacked = join(dataDir, unpackedName);
  try {
    await mkdir(unpacked, { recursive: true, mode: 0o700 });
    const manifest = await unpack(archive, unpacked);
    await fillStore(manifest, unpacked, dataDir);
    await fillBlobs(manifest, unpacked, dataDir);
    await fillSetAside(manifest, unpacked, dataDir);
    await writeDurableText(join(dataDir, "collector"), manifest.collector);
    const outbox = await createOutbox(join(dataDir, "outbox"));
    await outbox.finish(manifest.position);
    await rm(unpacked, { recursive: true });
    const rows = manifest.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0);
    return { tables: manifest.tables.length, rows, blobs: manifest.blobs.length };
  } catch (cause) {
    // Half of the data must not be taken for all of it. If it cannot be removed, the first failure still says more.
    await clear(dataDir, wasThere).catch(() => undefined);
    throw cause;
  }
}

/** Whether the folder exists, empty; throws when there is anything else in its place. */
async function isEmptyFolder(dataDir: string): Promise<boolean> {
  const names = await readdir(dataDir).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return null;
    throw cause;
  });
  if (names?.some(isOurs)) throw new RestoreFolderError(`${dataDir} is not empty.`);
  return names !== null;
}

/** A folder that was there before stays: it may be a volume or a link. */
async function clear(dataDir: string, wasThere: boolean): Promise<void> {
  if (!wasThere) return rm(dataDir, { recursive: true, force: true });
  for (const name of (await readdir(dataDir)).filter(isOurs)) await rm(join(dataDir, name), { recursive: true });
}

/** A new volume has a folder of its file system in it. */
function isOurs(name: string): boolean {
  return name !== "lost+found";
}

async function unpack(archive: string, folder: string): Promise<BackupManifest> {
  const hashes = new Map<string, Hash>();
  const file = await open(archive);
  try {
    for (let at = 0; ; ) {
      const header = Buffer.alloc(tarBlockBytes);
      const { bytesRead } = await file.read(header, 0, tarBlockBytes, at);
      if (bytesRead < tarBlockBytes) throw new BackupError(at === 0 ? noBackup(archive) : `${archive} ends too early.`);
      const entry = toEntry(header, archive);
      if (entry === undefined) break;
      at += tarBlockBytes;
      // The pieces of a table become one file again.
      const name = entry.name.replace(/\.native\.\d+$/, ".native");
      const hash = hashes.get(name) ?? createHash("sha256");
      hashes.set(name, hash);
      await unpackEntry(file, at, entry.sizeBytes, join(folder, name), hash, archive);
      at += entry.sizeBytes + tarPadding(entry.sizeBytes);
    }
  } finally {
    await file.close();
  }
  const text = await readFile(join(folder, "manifest.json"), "utf8").catch(() => {
    throw new BackupError(`${archive} has no manifest: it is no backup, or it was cut short.`);
  });
  const manifest = JSON.parse(text) as BackupManifest;
  if (manifest.format !== 1) throw new BackupError(`${archive} is of a newer version of Tributary.`);
  for (const { entry, sha256 } of [...manifest.tables, ...manifest.blobs, ...(manifest.set_aside ?? [])]) {
    if (hashes.get(entry)?.digest("hex") !== sha256)
      throw new BackupError(`${archive} is damaged: ${entry} is not what was written.`);
  }
  return manifest;
}

function toEntry(header: Uint8Array, archive: string) {
  try {
    const entry = decodeTarHeader(header);
    if (
      entry &&
      !/^(tables\/\w+\.native(\.\d+)?|blobs\/\d+|set-aside\/\d+\.(record|retry|json)|manifest\.json)$/.test(entry.name)
    )
      throw new RangeError();
    return entry;
  } catch {
    throw new BackupError(noBackup(archive));
  }
}

function noBackup(archive: string): string {
  return `${archive} is no backup of Tributary, or it is damaged.`;
}

async function unpackEntry(
  file: FileHandle,
  from: number,
  sizeBytes: number,
  path: string,
  hash: Hash,
  archive: string,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const into = await open(path, "a", 0o600);
  const buffer = Buffer.alloc(1024 * 1024);
  try {
    for (let done = 0; done < sizeBytes; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, sizeBytes - done), from + done);
      if (bytesRead === 0) throw new BackupError(`${archive} ends too early.`);
      hash.update(buffer.subarray(0, bytesRead));
      // All of it: a disk that is nearly full takes a part of a plain write.
      await into.writeFile(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
  } finally {
    await into.close();
  }
}

async function fillStore({ tables }: BackupManifest, unpacked: string, dataDir: string): Promise<void> {
  const store = await createStore({ kind: "embedded", dataDir, alsoReads: unpacked });
  try {
    await migrate(store);
    for (const table of tables) {
      if (table.rows === 0) continue;
      await fillTable(store, table.name, join(unpacked, table.entry));
      // Rows of one identity may have been merged meanwhile; more than were written can only be a mistake.
      const rows = await countTable(store, table.name);
      if (rows === 0 || rows > (table.rows ?? 0)) throw new BackupError(`${table.name} came back with ${rows} rows.`);
    }
  } finally {
    await store.close();
  }
}

async function fillBlobs({ blobs }: BackupManifest, unpacked: string, dataDir: string): Promise<void> {
  const store = await createFsBlobs(join(dataDir, "blobs"));
  for (const { name, entry } of blobs) await store.put(name, createReadStream(join(unpacked, entry)));
  await store.close();
}

async function fillSetAside({ set_aside: parts = [] }: BackupManifest, unpacked: string, dataDir: string) {
  if (parts.length === 0) return;
  await mkdir(join(dataDir, "set-aside"), { mode: 0o700 });
  for (const { entry } of parts) {
    await rename(join(unpacked, entry), join(dataDir, entry));
    await syncPath(join(dataDir, entry));
  }
  await syncPath(join(dataDir, "set-aside"));
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path);
  await file.sync().finally(() => file.close());
}
