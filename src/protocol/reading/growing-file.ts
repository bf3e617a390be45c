// A file that may still be written to: gives what was added since the last look, and notices when another file took its name
// or when it was rewritten. A file that was cut and has grown beyond our place is recognised by its bytes: those at its
// beginning and before our place differ from what was read.

import { type FileHandle, open, stat } from "node:fs/promises";

export interface Chunk {
  readonly bytes: Uint8Array;
  /** True when the file was replaced or cut, so that what follows begins at offset 0. */
  readonly restarted: boolean;
}

const chunkBytes = 1024 * 1024;
/** How much of what was read is compared with what is there now, at either end. */
const knownBytes = 4096;

export class GrowingFile {
  readonly path: string;
  private handle: FileHandle | undefined;
  private inode = 0n;
  private offset = 0;
  /** The first and the last bytes that were read. */
  private head: Buffer = Buffer.alloc(0);
  private tail: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.path = path;
  }

  /** The next bytes, or undefined when there are none now. The caller owns them. */
  async read(): Promise<Chunk | undefined> {
    let restarted = false;
    this.handle ??= await this.openAgain();
    let chunk = await this.readChunk();
    if (chunk.length === 0 ? await this.wasReplaced() : await this.wasRewritten()) {
      await this.close();
      this.handle = await this.openAgain();
      restarted = true;
      chunk = await this.readChunk();
    }
    this.remember(chunk);
    return chunk.length === 0 && !restarted ? undefined : { bytes: chunk, restarted };
  }

  private async readChunk(): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = (await this.handle?.read(buffer, 0, chunkBytes, this.offset)) ?? { bytesRead: 0 };
    return buffer.subarray(0, bytesRead);
  }

  private remember(chunk: Uint8Array): void {
    this.offset += chunk.length;
    if (this.head.length < knownBytes)
      this.head = Buffer.concat([this.head, chunk.subarray(0, knownBytes - this.head.length)]);
    this.tail = Buffer.from(Buffer.concat([this.tail, chunk.subarray(-knownBytes)]).subarray(-knownBytes));
  }

  private async wasRewritten(): Promise<boolean> {
    return !((await this.stands(this.head, 0)) && (await this.stands(this.tail, this.offset - this.tail.length)));
  }

  private async stands(known: Buffer, at: number): Promise<boolean> {
    const { buffer, bytesRead } = (await this.handle?.read(Buffer.alloc(known.length), 0, known.length, at)) ?? {
      buffer: known,
      bytesRead: 0,
    };
    return bytesRead === known.length && known.equals(buffer);
  }

  private async openAgain(): Promise<FileHandle> {
    const handle = await open(this.path);
    this.inode = (await handle.stat({ bigint: true })).ino;
    this.offset = 0;
    this.head = Buffer.alloc(0);
    this.tail = Buffer.alloc(0);
    return handle;
  }

  /** Rotation gives the name to a new file; truncation makes the old one shorter than what was read. */
  private async wasReplaced(): Promise<boolean> {
    const now = await stat(this.path, { bigint: true }).catch(() => undefined);
    return now !== undefined && (now.ino !== this.inode || now.size < BigInt(this.offset));
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.handle = undefined;
  }
}
