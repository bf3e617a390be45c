// A body as it comes, piece by piece. The pieces are garbage of the runtime, and cheap if nobody keeps them; held until
// the body is whole, they grow old, and the whole heap is collected for them. The same is true of the joined body,
// unless its memory is pooled.

import { bytePool } from "#base/array-pool.ts";
import { copyBytes } from "#base/copy-bytes.ts";

/** Memory is taken for at most this many times what has come, not for what a sender merely announces. */
const growth = 4;
const noBytes = new Uint8Array(0);

export class GatheredBytes {
  length = 0;
  /** The only piece, as most bodies have. */
  private only: Uint8Array | undefined;
  private bytes: Uint8Array = noBytes;
  private readonly isReleased: boolean;

  /** `isReleased`: the reader of the body will call `release`. */
  constructor(isReleased: boolean) {
    this.isReleased = isReleased;
  }

  /** `announcedBytes`: the announced length of the whole body; 0 if unknown. */
  add(piece: Uint8Array, announcedBytes: number): void {
    if (this.length === 0) this.only = piece;
    else {
      this.makeRoom(this.length + piece.length, announcedBytes);
      if (this.only !== undefined) copyBytes(this.only, 0, this.only.length, this.bytes, 0);
      this.only = undefined;
      copyBytes(piece, 0, piece.length, this.bytes, this.length);
    }
    this.length += piece.length;
  }

  /** Whether there is memory to release. */
  get isJoined(): boolean {
    return this.bytes.length > 0;
  }

  /** A view, valid until the memory is released. It is a Buffer because that is searched by the C library. */
  view(): Buffer {
    const { buffer, byteOffset } = this.only ?? this.bytes;
    return Buffer.from(buffer, byteOffset, this.length);
  }

  /** Call it when nobody reads the bytes any more; a second call does nothing. */
  release(): void {
    if (this.isReleased) bytePool.give(this.bytes);
    this.bytes = noBytes;
    this.only = undefined;
    this.length = 0;
  }

  private makeRoom(needed: number, announcedBytes: number): void {
    if (needed <= this.bytes.length) return;
    const size = Math.max(needed, Math.min(needed * growth, announcedBytes));
    const grown = this.isReleased ? bytePool.take(size) : Buffer.allocUnsafeSlow(size);
    copyBytes(this.bytes, 0, this.length, grown, 0);
    if (this.isReleased) bytePool.give(this.bytes);
    this.bytes = grown;
  }
}
