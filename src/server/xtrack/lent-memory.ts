// Memory in which the pieces of a stream are put together, used again once their record is applied. Made anew for every
// record, it would have the runtime look through the whole heap for each few dozen megabytes that workers send.

import { bytePool } from "#base/array-pool.ts";

/** Smaller memory lies together with others. */
const lentBytesMin = 64 * 1024;

/**
 * With room before the bytes; null for few bytes. Until it is given back, its user may forget it, and the runtime collects
 * it.
 */
export function lendMemory(bytes: number, roomBefore: number): Uint8Array | null {
  return bytes <= lentBytesMin ? null : bytePool.take(roomBefore + bytes);
}

/** Where a record's bytes lie. A record may wait long to be applied, and others may let go of its bytes in the meantime. */
export type Lent = WeakRef<ArrayBufferLike>;

export function toLent(memory: Uint8Array | null): Lent | null {
  return memory === null ? null : new WeakRef(memory.buffer);
}

/** Nobody looks at the record's bytes any more. */
export function giveBack(lent: Lent | null): void {
  const buffer = lent?.deref();
  if (buffer !== undefined) bytePool.give(new Uint8Array(buffer));
}
