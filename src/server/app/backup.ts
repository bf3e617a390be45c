// Everything in the data folder as one archive, while the server runs.
//
//   tables/<name>.native    the rows of a table, in ClickHouse's own format
//   blobs/<n>               a blob; the manifest says its key
//   manifest.json           last: what the archive holds, with sizes and SHA-256, and the journal position it includes
//
// Facts are written before the small tables that say whose they are, so that no row comes back without its owner. What is
// accepted while the archive is written may be in it or not.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { FileBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { nowNs } from "#base/clock.ts";
import { encodeTarHeader, tarBlockBytes, tarPadding } from "#base/tar.ts";
import { version } from "#base/version.ts";
import { stateTables } from "#model/state-tables.ts";
import { factTables } from "#model/tables.ts";
import type { Collector } from "#server/collector/collector.ts";

export interface BackupPart {
  readonly entry: string;
  /** The table's name, or the blob's key. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Of a table. */
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
}

export const backupTables: readonly string[] = [...Object.keys(factTables), ...Object.keys(stateTables)];

export function createBackup(collector: Collector, dataDir: string): FileBody {
  if (collector.store.kind !== "embedded") {
    throw new Refusal(409, "store_elsewhere", "The data is in a ClickHouse server, which has its own BACKUP.", {
      hint: "Use BACKUP DATABASE there, and your bucket's own means for blobs.",
    });
  }
  const name = `tributary-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-")}.tar`;
  return new FileBody("application/x-tar", writeArchive(collector, dataDir), name);
}

async function* writeArchive(collector: Collector, dataDir: string): AsyncGenerator<Uint8Array> {
  await collector.drained();
  const position = collector.writer.stored;
  const folder = join(dataDir, "tmp", `backup-${process.pid}-${Date.now()}`);
  await mkdir(folder, { recursive: true });
  try {
    const tables: BackupPart[] = [];
    for (const table of backupTables) tables.push(yield* writeTable(collector, table, join(folder, table)));
    const blobs: BackupPart[] = [];
    for (const row of await readBlobRows(collector)) {
      const part = yield* writeBlob(collector, row, `blobs/${blobs.length}`);
      if (part) blobs.push(part);
    }
    const manifest: BackupManifest = {
      format: 1,
      version,
      created_ns: String(nowNs()),
      collector: collector.id,
      position,
      tables,
      blobs,
    };
    const bytes = new TextEncoder().encode(JSON.stringify(manifest, null, 1));
    yield* writeEntry("manifest.json", bytes.length, [bytes]);
    yield new Uint8Array(2 * tarBlockBytes);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A header comes before the contents and says their size, so a table is first written beside. */
async function* writeTable(collector: Collector, table: string, path: string): AsyncGenerator<Uint8Array, BackupPart> {
  const { store } = collector;
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const file = await open(path, "w", 0o600);
  try {
    const sql = `SELECT * FROM ${store.database}.${table}`;
    for await (const chunk of store.stream({ sql }, { format: "Native" })) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      await file.write(chunk);
    }
  } finally {
    await file.close();
  }
  const [count] = await store.query<{ rows: string }>({
    sql: `SELECT count() AS rows FROM ${store.database}.${table}`,
  });
  const entry = `tables/${table}.native`;
  yield* writeEntry(entry, sizeBytes, createReadStream(path));
  await rm(path);
  return { entry, name: table, sizeBytes, sha256: hash.digest("hex"), rows: Number(count?.rows ?? 0) };
}

interface BlobRow {
  readonly object_key: string;
  readonly size: string;
}

function readBlobRows({ store }: Collector): Promise<BlobRow[]> {
  const sql = `SELECT object_key, size FROM ${store.database}.blobs FINAL WHERE deleted = 0 ORDER BY object_key`;
  return store.query<BlobRow>({ sql });
}

async function* writeBlob(
  { blobs }: Collector,
  { object_key: key }: BlobRow,
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

async function* writeEntry(
  name: string,
  sizeBytes: number,
  contents: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield encodeTarHeader({ name, sizeBytes });
  yield* contents;
  yield new Uint8Array(tarPadding(sizeBytes));
}
