// Ids of spans, marks and snapshots: 32 hex digits = 80 random bits of this thread + a 48-bit counter.
// Rows keep only the counter; the text is made when a batch is written, so a mark costs no string.

import { randomBytes } from "node:crypto";
import { toAscii } from "#base/byte-writer.ts";
import type { IdPrefix } from "#wire/cirron/encode.ts";

class IdSpace {
  readonly prefix: IdPrefix;
  private readonly prefixText = randomBytes(10).toString("hex");
  private last = 0;

  constructor() {
    this.prefix = toAscii(this.prefixText);
  }

  /** Counters start at 1: 0 stands for "no span". */
  next(): number {
    return ++this.last;
  }

  format(counter: number): string {
    return this.prefixText + counter.toString(16).padStart(12, "0");
  }
}

export const spanIds: IdSpace = new IdSpace();
export const markIds: IdSpace = new IdSpace();

/** A UUID4 without dashes, as the document wants for batches. */
export function createBatchId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Stands for this thread in `thread_id`: random, because pids and thread numbers repeat in containers. */
export const threadIdentity: number = randomBytes(6).readUIntBE(0, 6) % 2 ** 47;
