// A filter over texts that grows with them: a chain of sets of fingerprints, each larger than the one before.

import { randomInt } from "node:crypto";
import { FingerprintSet } from "./fingerprint-set.ts";

const firstCapacity = 4096;
const capacityMax = 1 << 20;

export class TextFilter {
  private readonly sets: FingerprintSet[] = [];

  get byteSize(): number {
    return this.sets.reduce((sum, { byteSize }) => sum + byteSize, 0);
  }

  add(text: string): void {
    const [low, high] = hashText(text);
    if (this.sets.some((set) => set.has(low, high))) return;
    let last = this.sets.at(-1);
    if (last === undefined || last.size >= last.capacity) {
      last = new FingerprintSet(last === undefined ? firstCapacity : Math.min(capacityMax, last.capacity * 4));
      this.sets.push(last);
    }
    last.add(low, high);
  }

  /** False is certain; true is wrong about once in a billion times. */
  has(text: string): boolean {
    const [low, high] = hashText(text);
    return this.sets.some((set) => set.has(low, high));
  }
}

// Clients may choose texts that collide, so each process has its own seeds.
const [lowSeed, highSeed] = [randomInt(0xffffffff), randomInt(0xffffffff)];

/** Two words, which practically always differ for different texts; a digest would cost far more. */
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
