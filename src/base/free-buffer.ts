// Gives the memory of a buffer back at once. Otherwise the runtime does so when it collects the buffer, and for buffers that
// were held for a while that takes a collection of the whole heap.

/** Smaller arrays may share a buffer with others, and cost little. */
const freedBytesMin = Buffer.poolSize >>> 1;

/** Whether an array of so many bytes has a buffer of its own. */
export function isFreeable(bytes: number): boolean {
  return bytes > freedBytesMin;
}

/** The bytes must have been allocated as one array, and nobody may read them any more. Small ones are left to the runtime. */
export function freeBuffer({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (isFreeable(byteLength) && byteOffset === 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
