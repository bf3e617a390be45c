// A body as it comes, piece by piece. The pieces themselves are garbage of the runtime, and die young when nobody keeps them;
// held until the body is whole they grow old, and the whole heap is collected for them. So does what they are put together
// to, unless its memory is used again.

import { bytePool } from "#base/array-pool.ts";
import { copyBytes } from "#base/copy-bytes.ts";

/** Memory is taken for so many times what has come, and not for what a sender merely announces. */
const growth = 4;
const noBytes = new Uint8Array(0);

export class GatheredBytes {
  length = 0;
  /** The only piece, as most bodies have. */
  private only: Uint8Array | undefined;
  private bytes: Uint8Array = noBytes;
  private readonly isReleased: boolean;

  /** `isReleased`: whoever reads the body says when nobody looks at it any more. */
  constructor(isReleased: boolean) {
    this.isReleased = isReleased;
  }

  /** `announcedBytes`: how long the whole body is to be; 0 when that is not known. */
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

  /** There is memory to be released. */
  get isJoined(): boolean {
    return this.bytes.length > 0;
  }

  /** A view, valid until the memory is released. A Buffer, as that is searched by the C library. */
  view(): Buffer {
    const { buffer, byteOffset } = this.only ?? this.bytes;
    return Buffer.from(buffer, byteOffset, this.length);
  }

  /** Nobody looks at the bytes any more; again it does nothing. */
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
