// Memory for the joined pieces of a stream, reused once their record is applied. If it were allocated for every record,
// the runtime would collect the whole heap after each few dozen megabytes that workers send.

import { bytePool } from "#base/array-pool.ts";

/** Smaller buffers share memory with others. */
const lentBytesMin = 64 * 1024;

/**
 * Memory with room before the bytes; null for few bytes. If its user forgets it instead of giving it back, the runtime
 * collects it.
 */
export function lendMemory(bytes: number, roomBefore: number): Uint8Array | null {
  return bytes <= lentBytesMin ? null : bytePool.take(roomBefore + bytes);
}

/**
 * The memory of a record's bytes. It is weak, because a record may wait for long and its bytes may be dropped
 * meanwhile.
 */
export type Lent = WeakRef<ArrayBufferLike>;

export function toLent(memory: Uint8Array | null): Lent | null {
  return memory === null ? null : new WeakRef(memory.buffer);
}

/** Call it when nobody reads the record's bytes any more. */
export function giveBack(lent: Lent | null): void {
  const buffer = lent?.deref();
  if (buffer !== undefined) bytePool.give(new Uint8Array(buffer));
}
