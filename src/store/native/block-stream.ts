// Native blocks out of a stream of chunks, each as soon as it is whole: an answer of a million rows is never held as
// bytes all at once.

import { BlockReader, type DecodedBlock, ShortBlock } from "./decode-block.ts";

export async function* streamBlocks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedBlock> {
  const gathered = new BlockBytes();
  for await (const chunk of chunks) {
    gathered.push(chunk);
    for (let block = gathered.take(); block !== null; block = gathered.take()) yield block;
  }
  for (let block = gathered.takeRest(); block !== null; block = gathered.takeRest()) yield block;
  if (gathered.length > 0) throw new Error(`the store's answer ends in the middle of a block`);
}

class BlockBytes {
  length = 0;
  private bytes = new Uint8Array(0);
  /** The next block needs at least this many bytes. */
  private needed = 1;

  push(chunk: Uint8Array): void {
    const size = this.length + chunk.length;
    if (size > this.bytes.length) {
      // A block with a text of megabytes says early how long it is, and is then not copied while it grows.
      const grown = new Uint8Array(Math.max(size, this.needed + (this.needed >>> 3), this.bytes.length * 2));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(chunk, this.length);
    this.length = size;
  }

  /** The same at the end of the stream. */
  takeRest(): DecodedBlock | null {
    this.needed = 1;
    return this.take();
  }

  /** Takes out the first whole block; null if there is none yet. */
  take(): DecodedBlock | null {
    if (this.length < this.needed) return null;
    const bytes = this.bytes.subarray(0, this.length);
    const reader = new BlockReader(bytes);
    try {
      reader.skipBlock();
    } catch (error) {
      if (!(error instanceof ShortBlock)) throw error;
      // The block is not scanned again for every chunk that it arrives in.
      this.needed = Math.max(error.needed, this.length + (this.length >>> 3));
      return null;
    }
    const end = reader.at;
    reader.at = 0;
    const block = reader.readBlock();
    this.bytes.copyWithin(0, end, this.length);
    this.length -= end;
    this.needed = 1;
    return block;
  }
}
