// Pooled memory is shared memory (see array-pool.ts), which `set` copies byte by byte. Node's `copy` leaves it to the C library,
// unless the target is a Uint8Array and the whole source is copied.

const { copy } = Buffer.prototype;

/** Below this a plain loop beats the call. */
const fewBytes = 48;

/** Copies source[from..to) to target[at..). The two must not overlap. */
export function copyBytes(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): void {
  const size = to - from;
  if (size < fewBytes) {
    for (let i = 0; i < size; i++) target[at + i] = source[from + i] as number;
    return;
  }
  const into = new Int8Array(target.buffer, target.byteOffset + at, size);
  copy.call(source, into as unknown as Uint8Array, 0, from, to);
}
