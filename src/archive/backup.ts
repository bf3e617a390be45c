// Everything in the data folder as one archive, while the server runs.
//
//   tables/<name>.native    the rows of a table, in ClickHouse's own format
//   blobs/<n>               a blob; the manifest says its key
//   set-aside/<file>        of an accepted record that could not be applied
//   manifest.json           last: what the archive holds, with sizes and SHA-256, and the journal position it includes
//
// All tables are as of one journal record. The small ones, which change, are read while the writer pauses between two
// plans; the rows of the others say which record they came from, and are read afterwards while everything goes on. So a
// batch that the archive calls known is in it with all its rows, and one that is not may be sent again.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { nowNs } from "#base/clock.ts";
import { encodeTarHeader, tarBlockBytes, tarPadding } from "#base/tar.ts";
import { version } from "#base/version.ts";
import { stateTables } from "#model/state-tables.ts";
import { factTables } from "#model/tables.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { countDeletions, countTable, readBlobKeys, streamTable } from "#store/reader/whole-tables.ts";
import { type Store, withOptions } from "#store/store.ts";

/** A running collector, as far as it is backed up. */
export interface BackupSource {
  readonly id: string;
  readonly store: Store;
  readonly blobs: BlobStore;
  drained(): Promise<unknown>;
  /** Files of accepted records that could not be applied, up to a journal record. */
  readonly setAside: { filesUpTo(position: number): readonly string[] };
  readonly writer: {
    /** Runs while nothing is written; `stored` is the last journal record whose rows can be read. */
    betweenPlans<T>(work: (stored: number) => Promise<T>): Promise<T>;
  };
}

export interface BackupPart {
  readonly entry: string;
  /** The table's name, or the blob's key. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Of a table; at least as many as the entry has. */
  readonly rows?: number;
}

export interface BackupManifest {
  readonly format: 1;
  readonly version: string;
  readonly created_ns: string;
  readonly collector: string;
  /** The last journal record whose rows are certainly in the archive. */
  readonly position: number;
  readonly tables: readonly BackupPart[];
  readonly blobs: readonly BackupPart[];
  /** Missing where an earlier version wrote the archive. */
  readonly set_aside?: readonly BackupPart[];
}

/** Ends when `signal` is aborted, at the latest after the row that is being read. */
export async function* writeBackup(
  collector: BackupSource,
  dataDir: string,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Uint8Array> {
  const { store } = collector;
  // It cannot be stopped, and a caller who has gone need not wait for it.
  await Promise.race([collector.drained(), once(signal, "abort")]);
  signal.throwIfAborted();
  const folder = join(dataDir, "tmp", `backup-${process.pid}-${Date.now()}`);
  await mkdir(folder, { recursive: true });
  try {
    const { position, small, deletions, aside } = await collector.writer.betweenPlans(async (stored) => ({
      position: stored,
      small: await readSmallTables(store, folder, signal),
      deletions: await countDeletions(store),
      aside: await keepFiles(collector.setAside.filesUpTo(stored), folder),
    }));
    const tables: BackupPart[] = [];
    for (const table of Object.keys(factTables))
      tables.push(yield* writeTable(await readTable(store, table, folder, position, signal)));
    for (const read of small) tables.push(yield* writeTable(read));
    const blobs: BackupPart[] = [];
    for (const key of await readBlobKeys(store)) {
      const part = yield* writeBlob(collector.blobs, key, `blobs/${blobs.length}`);
      if (part) blobs.push(part);
    }
    const setAside: BackupPart[] = [];
    for (const path of aside) setAside.push(yield* writeFile(path));
    // Rows that a deletion took away in between would be missing from runs that the small tables still know.
    if ((await countDeletions(store)) !== deletions)
      throw new Error("A run was deleted while the backup was written; start the backup again.");
    const manifest: BackupManifest = {
      format: 1,
      version,
      created_ns: String(nowNs()),
      collector: collector.id,
      position,
      tables,
      blobs,
      set_aside: setAside,
    };
    const bytes = new TextEncoder().encode(JSON.stringify(manifest, null, 1));
    yield* writeEntry("manifest.json", bytes.length, [bytes]);
    yield new Uint8Array(2 * tarBlockBytes);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface ReadTable {
  readonly part: BackupPart;
  readonly path: string;
}

/** The writer waits for it. */
async function readSmallTables(store: Store, folder: string, signal: AbortSignal): Promise<ReadTable[]> {
  const tables: ReadTable[] = [];
  for (const table of Object.keys(stateTables)) tables.push(await readTable(store, table, folder, null, signal));
  return tables;
}

/** A header comes before the contents and says their size, so a table is first written beside. */
async function readTable(
  store: Store,
  table: string,
  folder: string,
  lastJpos: number | null,
  signal: AbortSignal,
): Promise<ReadTable> {
  signal.throwIfAborted();
  const path = join(folder, table);
  const hash = createHash("sha256");
  const rowsBefore = await countTable(store, table, lastJpos);
  let sizeBytes = 0;
  const file = await open(path, "w", 0o600);
  try {
    for await (const chunk of streamTable(withOptions(store, { signal }), table, lastJpos)) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      // All of it: a disk that is nearly full takes a part of a plain write.
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  const entry = `tables/${table}.native`;
  // A deletion that was ordered before may have taken rows away since, and a merge one of two with one identity.
  const rows = sizeBytes === 0 ? 0 : Math.max(rowsBefore, await countTable(store, table, lastJpos));
  return { path, part: { entry, name: table, sizeBytes, sha256: hash.digest("hex"), rows } };
}

async function* writeTable({ part, path }: ReadTable): AsyncGenerator<Uint8Array, BackupPart> {
  yield* writeEntry(part.entry, part.sizeBytes, readWhole(path));
  await rm(path);
  return part;
}

/** Opens the file only when it is read: if the archive is abandoned first, nobody would notice that the file is gone. */
async function* readWhole(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

async function* writeBlob(
  blobs: BlobStore,
  key: string,
  entry: string,
): AsyncGenerator<Uint8Array, BackupPart | undefined> {
  const sizeBytes = await blobs.size(key);
  if (sizeBytes === null) return undefined;
  const hash = createHash("sha256");
  async function* hashed() {
    for await (const chunk of blobs.read(key)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  yield* writeEntry(entry, sizeBytes, hashed());
  return { entry, name: key, sizeBytes, sha256: hash.digest("hex") };
}

/** Second names of those that are still there, since one may be applied after all meanwhile. */
async function keepFiles(paths: readonly string[], folder: string): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) {
    const name = join(folder, basename(path));
    const isThere = await link(path, name).then(() => true, isMissing);
    if (isThere) kept.push(name);
  }
  return kept;
}

function isMissing(cause: NodeJS.ErrnoException): false {
  if (cause.code === "ENOENT") return false;
  throw cause;
}

async function* writeFile(path: string): AsyncGenerator<Uint8Array, BackupPart> {
  const bytes = await readFile(path);
  const name = basename(path);
  const entry = `set-aside/${name}`;
  yield* writeEntry(entry, bytes.length, [bytes]);
  return { entry, name, sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

async function* writeEntry(
  name: string,
  sizeBytes: number,
  contents: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield encodeTarHeader({ name, sizeBytes });
  yield* contents;
  yield new Uint8Array(tarPadding(sizeBytes));
}
