// A filter over texts that grows with them: a chain of Bloom filters, each larger than the one before.

import { randomInt } from "node:crypto";
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

// Texts of clients may be chosen to collide, so that each process begins with words of its own.
const [lowSeed, highSeed] = [randomInt(0xffffffff), randomInt(0xffffffff)];

/** Two words that differ for texts which differ, as good as certainly: a digest would take thirty times as long. */
function hashText(text: string): [number, number] {
  let low = lowSeed;
  let high = highSeed;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 15;
    high = Math.imul(high ^ code, 0xc2b2ae35);
    high = (high << 13) | (high >>> 19);
  }
  return [(low ^ text.length) >>> 0, high >>> 0];
}
