// Everything in the data folder as one archive, while the server runs.
//
//   tables/<name>.native    the rows of a table, in ClickHouse's own format; of one that is in pieces the others are
//                           tables/<name>.native.1, .2, …
//   blobs/<n>               a blob; the manifest says its key
//   set-aside/<file>        of an accepted record that could not be applied
//   manifest.json           last: what the archive holds, with sizes and SHA-256, and the journal position it includes
//
// All tables are as of one journal record. The small ones, which change, are read while the writer pauses between two
// plans; the rows of the others say which record they came from, and are read afterwards while everything goes on. So a
// batch that the archive calls known is in it with all its rows, and one that is not may be sent again.
//
// Tables are copied to the data folder first, so that neither the writer nor the engine waits for whoever takes the archive.
// On a full disk, where nothing could be written anyway, they do wait, and a table goes out in pieces.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import { fullCodes } from "#base/disk-outage.ts";
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
    /** What is accepted waits in the journal until there is room. */
    readonly isDiskFull: boolean;
    /** Runs while no small table is written to; `stored` is the last journal record whose rows can be read. */
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
  await untilStored(collector, signal);
  signal.throwIfAborted();
  const folder = join(dataDir, "tmp", `backup-${process.pid}-${Date.now()}`);
  await mkdir(folder, { recursive: true }).catch(passFull);
  try {
    const pause = await pauseWriter(collector.writer);
    const position = pause.stored;
    const small: BackupPart[] = [];
    let copied: ReadTable[] | null;
    let deletions: number;
    let aside: string[];
    try {
      copied = await copySmallTables(store, folder, signal);
      for (const table of copied === null ? Object.keys(stateTables) : [])
        small.push(yield* writeTable(store, table, null, signal));
      deletions = await countDeletions(store);
      aside = await keepFiles(collector.setAside.filesUpTo(position), folder);
    } finally {
      pause.end();
    }
    for (const table of copied ?? []) small.push(yield* writeCopied(table));
    const facts: BackupPart[] = [];
    for (const table of Object.keys(factTables)) {
      const copy = await ifRoom(copyTable(store, table, folder, position, signal));
      if (copy === null) await rm(join(folder, table), { force: true });
      facts.push(yield* copy === null ? writeTable(store, table, position, signal) : writeCopied(copy));
    }
    const tables = [...facts, ...small];
    const blobs: BackupPart[] = [];
    for (const key of await readBlobKeys(store)) {
      const part = yield* writeBlob(collector.blobs, key, `blobs/${blobs.length}`);
      if (part) blobs.push(part);
    }
    const setAside: BackupPart[] = [];
    for (const path of aside) {
      const part = yield* writeFile(path);
      if (part) setAside.push(part);
    }
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

const lookMs = 500;

/** Everything that was accepted, unless it waits for room on the disk. */
async function untilStored(collector: BackupSource, signal: AbortSignal): Promise<void> {
  let isStored = false;
  const stored = collector.drained().then(() => {
    isStored = true;
  });
  const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  while (!isStored && !signal.aborted && !collector.writer.isDiskFull)
    await Promise.race([stored, gone, sleep(lookMs, undefined, { ref: false })]);
}

interface Pause {
  /** The last journal record whose rows can be read. */
  readonly stored: number;
  end(): void;
}

async function pauseWriter(writer: BackupSource["writer"]): Promise<Pause> {
  const ended = Promise.withResolvers<void>();
  return new Promise((resolve, reject) => {
    const work = (stored: number) => {
      resolve({ stored, end: ended.resolve });
      return ended.promise;
    };
    writer.betweenPlans(work).catch(reject);
  });
}

interface ReadTable {
  readonly part: BackupPart;
  readonly path: string;
}

/** Null when the disk has no room for them. */
async function copySmallTables(store: Store, folder: string, signal: AbortSignal): Promise<ReadTable[] | null> {
  const tables: ReadTable[] = [];
  for (const table of Object.keys(stateTables)) {
    const copy = await ifRoom(copyTable(store, table, folder, null, signal));
    if (copy === null) {
      await rm(folder, { recursive: true, force: true });
      return null;
    }
    tables.push(copy);
  }
  return tables;
}

/** Null when the disk has no room for it, or had none for the folder. */
function ifRoom(copy: Promise<ReadTable>): Promise<ReadTable | null> {
  return copy.catch((cause: NodeJS.ErrnoException) => {
    if (fullCodes.has(cause.code ?? "") || (cause.code === "ENOENT" && cause.syscall === "open")) return null;
    throw cause;
  });
}

async function copyTable(
  store: Store,
  table: string,
  folder: string,
  lastJpos: number | null,
  signal: AbortSignal,
): Promise<ReadTable> {
  signal.throwIfAborted();
  const rowsBefore = await countTable(store, table, lastJpos);
  const path = join(folder, table);
  const hash = createHash("sha256");
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
  const rows = sizeBytes === 0 ? 0 : Math.max(rowsBefore, await countTable(store, table, lastJpos));
  return { path, part: { entry: entryOf(table), name: table, sizeBytes, sha256: hash.digest("hex"), rows } };
}

async function* writeCopied({ part, path }: ReadTable): AsyncGenerator<Uint8Array, BackupPart> {
  yield* writeEntry(part.entry, part.sizeBytes, readWhole(path));
  await rm(path);
  return part;
}

function entryOf(table: string): string {
  return `tables/${table}.native`;
}

/** A header says the size of what follows it, so a table that is not copied first goes out in pieces. */
async function* writeTable(
  store: Store,
  table: string,
  lastJpos: number | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, BackupPart> {
  signal.throwIfAborted();
  const entry = entryOf(table);
  const hash = createHash("sha256");
  const rowsBefore = await countTable(store, table, lastJpos);
  let sizeBytes = 0;
  let pieces = 0;
  for await (const chunks of inPieces(streamTable(withOptions(store, { signal }), table, lastJpos))) {
    for (const chunk of chunks) hash.update(chunk);
    const pieceBytes = lengthOf(chunks);
    sizeBytes += pieceBytes;
    yield* writeEntry(pieces === 0 ? entry : `${entry}.${pieces}`, pieceBytes, chunks);
    pieces++;
  }
  // A deletion that was ordered before may have taken rows away since, and a merge one of two with one identity.
  const rows = sizeBytes === 0 ? 0 : Math.max(rowsBefore, await countTable(store, table, lastJpos));
  return { entry, name: table, sizeBytes, sha256: hash.digest("hex"), rows };
}

const pieceBytesEnough = 1024 * 1024;

/** At least one, which may be empty. */
async function* inPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let isFirst = true;
  for await (const chunk of chunks) {
    piece.push(chunk);
    if (lengthOf(piece) < pieceBytesEnough) continue;
    yield piece;
    isFirst = false;
    piece = [];
  }
  if (isFirst || piece.length > 0) yield piece;
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
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
    // Where there is no room for a second name, none is applied meanwhile either.
    kept.push(
      await link(path, name).then(
        () => name,
        () => path,
      ),
    );
  }
  return kept;
}

function passFull(cause: NodeJS.ErrnoException): void {
  if (!fullCodes.has(cause.code ?? "")) throw cause;
}

async function* writeFile(path: string): AsyncGenerator<Uint8Array, BackupPart | undefined> {
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw cause;
  });
  if (bytes === undefined) return undefined;
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
  let left = sizeBytes;
  for await (const chunk of contents) {
    left -= chunk.length;
    yield chunk;
  }
  // Everything after it would be read from the wrong place.
  if (left !== 0) throw new Error(`${name} changed its size while the backup was written; start the backup again.`);
  yield new Uint8Array(tarPadding(sizeBytes));
}
