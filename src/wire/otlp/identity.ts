// The identity of a record without an id of its own is its whole content. A request that is sent again, in whatever
// encoding, gives the same identities; two equal records in one request are two.

import { createHash } from "node:crypto";

export class ContentIds {
  /** How often each content came in this request. */
  private readonly counts = new Map<string, number>();

  /** 32 hex of the content and, from the second time on, of how often it came before. */
  of(...parts: readonly string[]): string {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part).update("\0");
    const id = hash.digest("hex").slice(0, 32);
    const before = this.counts.get(id) ?? 0;
    this.counts.set(id, before + 1);
    return before === 0 ? id : createHash("sha256").update(`${id}\0${before}`).digest("hex").slice(0, 32);
  }
}

/** 63 bits of such an id as a number: tells rows of one time apart, and identifies a log record. */
export function toNumber(id: string): bigint {
  return BigInt.asUintN(63, BigInt(`0x${id.slice(0, 16)}`));
}
