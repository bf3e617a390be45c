// A filter over texts that grows with them: a chain of Bloom filters, each larger than the one before.

import { hash } from "node:crypto";
import { Bloom } from "./bloom.ts";

const firstCapacity = 4096;
const capacityMax = 1 << 20;

export class BloomChain {
  private readonly filters: { readonly bloom: Bloom; readonly capacity: number }[] = [];
  private readonly bitsPerText: number;

  /** See `Bloom` for what the bits buy. */
  constructor(bitsPerText = 12) {
    this.bitsPerText = bitsPerText;
  }

  get byteSize(): number {
    return this.filters.reduce((sum, { bloom }) => sum + bloom.byteSize, 0);
  }

  add(text: string): void {
    const [low, high] = hashText(text);
    if (this.filters.some(({ bloom }) => bloom.has(low, high))) return;
    let last = this.filters.at(-1);
    if (last === undefined || last.bloom.size >= last.capacity) {
      const capacity = last === undefined ? firstCapacity : Math.min(capacityMax, last.capacity * 4);
      last = { bloom: new Bloom(capacity, this.bitsPerText), capacity };
      this.filters.push(last);
    }
    last.bloom.add(low, high);
  }

  /** False for certain, true perhaps. */
  has(text: string): boolean {
    const [low, high] = hashText(text);
    return this.filters.some(({ bloom }) => bloom.has(low, high));
  }
}

function hashText(text: string): [number, number] {
  const digest = hash("sha256", text, "buffer");
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}
