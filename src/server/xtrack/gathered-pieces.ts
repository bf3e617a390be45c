// What a stream brought and nobody has decoded yet, in order. Many pieces are joined in pooled memory: the pieces
// themselves die young then, and however long the rest waits, the runtime need not collect the whole heap for it.

import { copyBytes } from "#base/copy-bytes.ts";
import { lendMemory } from "./lent-memory.ts";

/** The most that is joined, with room before it for the beginning of a frame. */
const joinedBytesMax = 512 * 1024;
const roomBefore = 64 * 1024;

export interface Joined {
  /** What came is `memory[start..end)`. */
  readonly memory: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly isLent: boolean;
  /** How many pieces it was made of. */
  readonly pieces: number;
}

export class GatheredPieces {
  bytes = 0;
  private loose: Uint8Array[] = [];
  private looseBytes = 0;
  private readonly joined: Joined[] = [];

  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.looseBytes > 0 && roomBefore + this.looseBytes + piece.length > joinedBytesMax) this.joinLoose();
    this.loose.push(piece);
    this.looseBytes += piece.length;
    this.bytes += piece.length;
  }

  /** The oldest; undefined when there is nothing. */
  take(): Joined | undefined {
    if (this.joined.length === 0 && this.loose.length > 0) this.joinLoose();
    const first = this.joined.shift();
    if (first !== undefined) this.bytes -= first.end - first.start;
    return first;
  }

  private joinLoose(): void {
    const { loose, looseBytes } = this;
    const lent = lendMemory(looseBytes, roomBefore);
    const start = lent === null ? 0 : roomBefore;
    const memory = lent ?? (loose.length === 1 ? (loose[0] as Uint8Array) : new Uint8Array(looseBytes));
    let end = start;
    for (const piece of loose) {
      if (piece !== memory) copyBytes(piece, 0, piece.length, memory, end);
      end += piece.length;
    }
    this.joined.push({ memory, start, end, isLent: lent !== null, pieces: loose.length });
    this.loose = [];
    this.looseBytes = 0;
  }
}
