// Gives the memory of a buffer back at once. The runtime does so when it has collected the buffer; those that are held for a
// while grow old, and then it is the whole heap that it collects for them.

/** Smaller arrays may share a buffer of the runtime's with others, and cost little. */
const freedBytesMin = Buffer.poolSize >>> 1;

/** Whether an array of so many bytes has a buffer of its own. */
export function isFreeable(bytes: number): boolean {
  return bytes > freedBytesMin;
}

/** Nobody may look at these bytes any more, which were allocated as one array; what is not freeable is left to the runtime. */
export function freeBuffer({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (isFreeable(byteLength) && byteOffset === 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
