// The spool folder: one file per batch, written under a temporary name and renamed, so that a *.json is
// always whole; the oldest files go when the cap is reached. Batches the disk would not take wait in
// memory, up to a bound, and are tried again at the next write.

import { join } from "node:path";
import { say, toReason } from "#emit/say.ts";
import { formatSpoolName } from "#wire/cirron/encode.ts";
import { diskFiles, type Files } from "./files.ts";

export interface SpoolCounts {
  readonly written: number;
  /** Old batches removed to stay below the cap. */
  readonly evicted: number;
  /** Batches lost because the disk took nothing for too long. */
  readonly lost: number;
  readonly waitingBytes: number;
}

interface WaitingBatch {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const waitingBytesMax = 16 * 1024 * 1024;

export class Spool {
  readonly path: string;
  private readonly bytesMax: number;
  private readonly files: Files;
  private waiting: WaitingBatch[] = [];
  private waitingBytes = 0;
  // What we believe the folder holds; -1 before the first look. Other processes may share the folder,
  // so it is only a reason to look again, never a reason to delete.
  private folderBytes = -1;
  private written = 0;
  private evicted = 0;
  private lost = 0;

  constructor(path: string, bytesMax: number, files: Files = diskFiles) {
    this.path = path;
    this.bytesMax = bytesMax;
    this.files = files;
  }

  get counts(): SpoolCounts {
    const { written, evicted, lost, waitingBytes } = this;
    return { written, evicted, lost, waitingBytes };
  }

  /** Never throws. Returns whether everything handed over so far is on disk. */
  write(createdNs: string, batchId: string, json: Uint8Array): boolean {
    const batch = { name: formatSpoolName(createdNs, batchId), bytes: json };
    if (this.writeWaiting() && this.tryStore(batch)) return true;
    // The caller's bytes are only lent.
    this.waiting.push({ name: batch.name, bytes: json.slice() });
    this.waitingBytes += json.length;
    this.dropWaiting();
    return false;
  }

  /** Tries again what the disk refused before. */
  writeWaiting(): boolean {
    while (this.waiting.length > 0) {
      const next = this.waiting[0] as WaitingBatch;
      if (!this.tryStore(next)) return false;
      this.waiting.shift();
      this.waitingBytes -= next.bytes.length;
    }
    return true;
  }

  private tryStore(batch: WaitingBatch): boolean {
    try {
      this.store(batch);
      this.written++;
      return true;
    } catch (error) {
      say(`cannot write to ${this.path} (${toReason(error)})`);
      return false;
    }
  }

  private store(batch: WaitingBatch): void {
    const { files, path } = this;
    if (this.folderBytes < 0) {
      files.makeDirectory(path);
      this.folderBytes = this.files.list(this.path).reduce((sum, file) => sum + file.bytes, 0);
    }
    if (this.folderBytes + batch.bytes.length > this.bytesMax) this.evict(batch.bytes.length);
    const target = join(path, batch.name);
    const temporary = `${target}.tmp`;
    try {
      files.write(temporary, batch.bytes);
      files.rename(temporary, target);
    } catch (cause) {
      // The folder may have been removed, so the next try looks again.
      this.folderBytes = -1;
      this.removeQuietly(temporary);
      throw cause;
    }
    this.folderBytes += batch.bytes.length;
  }

  private evict(needed: number): void {
    const found = this.files.list(this.path).sort((a, b) => (a.name < b.name ? -1 : 1));
    let total = found.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of found) {
      if (total + needed <= this.bytesMax) break;
      this.removeQuietly(join(this.path, file.name));
      total -= file.bytes;
      this.evicted++;
    }
    this.folderBytes = total;
  }

  private removeQuietly(path: string): void {
    try {
      this.files.remove(path);
    } catch {
      // It stays; the next eviction meets it again.
    }
  }

  private dropWaiting(): void {
    while (this.waitingBytes > waitingBytesMax && this.waiting.length > 1) {
      this.waitingBytes -= (this.waiting.shift() as WaitingBatch).bytes.length;
      this.lost++;
    }
  }
}
