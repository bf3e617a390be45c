// A disk with a cache of its own, as real ones have: a write is answered once the cache has it, and only a flush brings it to
// the medium. When the power goes, any of the cached sectors may be there afterwards, whatever the order they were written in;
// a single sector is never torn.

import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync, writevSync } from "node:fs";

export const sectorBytes = 512;

export interface Write {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** What the disk keeps of one sector of a write that it has not been told to flush. */
export type Keeps = (write: number, sector: number) => boolean;

/** Each entry of the cache's file: where the bytes go and how many there are, each in eight bytes, then the bytes. */
const entryHeaderBytes = 16;

/** Both parts are files, so that a program that is killed leaves what the disk had at that moment. */
export class CachedDisk {
  private readonly medium: number;
  private readonly cache: number;
  private cachedBytes = 0;
  private writes: Write[] = [];
  /** The newest bytes of each cached sector. */
  private readonly newest = new Map<number, Uint8Array>();
  readonly sizeBytes: number;

  constructor(mediumPath: string, cachePath: string) {
    this.medium = openSync(mediumPath, "r+");
    this.cache = openSync(cachePath, "w+");
    this.sizeBytes = fstatSync(this.medium).size;
  }

  read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, this.sizeBytes - at)));
    readSync(this.medium, bytes, 0, bytes.length, at);
    if (this.newest.size === 0) return bytes;
    const first = Math.floor(at / sectorBytes);
    for (let sector = first; sector * sectorBytes < at + bytes.length; sector++) {
      const cached = this.newest.get(sector);
      if (cached === undefined) continue;
      const from = sector * sectorBytes - at;
      bytes.set(cached.subarray(Math.max(0, -from), bytes.length - from), Math.max(0, from));
    }
    return bytes;
  }

  /** Whole sectors. */
  write({ at, bytes }: Write): void {
    if (at % sectorBytes !== 0 || bytes.length % sectorBytes !== 0)
      throw new Error(`${bytes.length} bytes at ${at} are no whole sectors`);
    const header = Buffer.alloc(entryHeaderBytes);
    header.writeBigUInt64LE(BigInt(at), 0);
    header.writeBigUInt64LE(BigInt(bytes.length), 8);
    writevSync(this.cache, [header, bytes], this.cachedBytes);
    this.cachedBytes += entryHeaderBytes + bytes.length;
    const kept = Uint8Array.from(bytes);
    this.writes.push({ at, bytes: kept });
    for (let from = 0; from < kept.length; from += sectorBytes)
      this.newest.set((at + from) / sectorBytes, kept.subarray(from, from + sectorBytes));
  }

  flush(): void {
    if (this.writes.length === 0) return;
    for (const { at, bytes } of this.writes) writeSync(this.medium, bytes, 0, bytes.length, at);
    ftruncateSync(this.cache, 0);
    this.cachedBytes = 0;
    this.writes = [];
    this.newest.clear();
  }

  close(): void {
    closeSync(this.medium);
    closeSync(this.cache);
  }
}

/** What came to the medium before the power was gone, of a disk whose program was killed. Says how much there was to lose. */
export function settle(
  mediumPath: string,
  cachePath: string,
  keeps: Keeps,
): { readonly cached: number; readonly lost: number } {
  const medium = openSync(mediumPath, "r+");
  const counts = { cached: 0, lost: 0 };
  try {
    for (const [index, { at, bytes }] of readCache(readFileSync(cachePath)).entries())
      for (let from = 0; from < bytes.length; from += sectorBytes) {
        counts.cached++;
        if (keeps(index, from / sectorBytes)) writeSync(medium, bytes, from, sectorBytes, at + from);
        else counts.lost++;
      }
  } finally {
    closeSync(medium);
  }
  return counts;
}

/** A write that the power cut off in the cache itself was never answered; its whole sectors may still have come through. */
function readCache(file: Buffer): Write[] {
  const writes: Write[] = [];
  for (let at = 0; at + entryHeaderBytes <= file.length; ) {
    const length = Number(file.readBigUInt64LE(at + 8));
    const bytes = file.subarray(at + entryHeaderBytes, at + entryHeaderBytes + length);
    const whole = bytes.length - (bytes.length % sectorBytes);
    writes.push({ at: Number(file.readBigUInt64LE(at)), bytes: bytes.subarray(0, whole) });
    at += entryHeaderBytes + length;
  }
  return writes;
}
