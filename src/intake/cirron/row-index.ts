// Which mark and snapshot ids are known, what content they had and which component they belong to.

import { IdMap, toIdWords } from "#intake/id-map.ts";

export class RowIndex {
  private readonly ids = new IdMap();
  private hashes = new Uint32Array(1024);
  private owners = new Uint32Array(1024);

  get size(): number {
    return this.ids.size;
  }

  /** The entry of an id that is known; a new one is added with its hash and owner, and the answer is -1. */
  findOrAdd(bytes: Uint8Array, start: number, end: number, hash: number, owner: number): number {
    const entry = this.ids.size;
    toIdWords(bytes, start, end);
    const known = this.ids.getOrSet(entry);
    if (known >= 0) return known;
    if (entry === this.hashes.length) {
      const hashes = new Uint32Array(entry * 2);
      hashes.set(this.hashes);
      this.hashes = hashes;
      const owners = new Uint32Array(entry * 2);
      owners.set(this.owners);
      this.owners = owners;
    }
    this.hashes[entry] = hash;
    this.owners[entry] = owner;
    return -1;
  }

  hashOf(entry: number): number {
    return this.hashes[entry] as number;
  }

  ownerOf(entry: number): number {
    return this.owners[entry] as number;
  }
}
