// Which mark and snapshot ids are known, what content they had and which component they belong to.

import { IdMap, toIdWords } from "#intake/id-map.ts";

export class RowIndex {
  private readonly ids = new IdMap();
  private hashes = new Uint32Array(1024);
  private owners = new Uint32Array(1024);

  get size(): number {
    return this.ids.size;
  }

  /** The entry of an id, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    toIdWords(bytes, start, end);
    return this.ids.get();
  }

  /** Adds the id that `find` was just asked for. */
  addLast(hash: number, owner: number): void {
    const entry = this.ids.size;
    if (entry === this.hashes.length) {
      const hashes = new Uint32Array(entry * 2);
      hashes.set(this.hashes);
      this.hashes = hashes;
      const owners = new Uint32Array(entry * 2);
      owners.set(this.owners);
      this.owners = owners;
    }
    this.ids.set(entry);
    this.hashes[entry] = hash;
    this.owners[entry] = owner;
  }

  hashOf(entry: number): number {
    return this.hashes[entry] as number;
  }

  ownerOf(entry: number): number {
    return this.owners[entry] as number;
  }
}
