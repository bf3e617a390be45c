// A file that may still be written: gives what was added since the last look, and notices when another file took its name.

import { type FileHandle, open, stat } from "node:fs/promises";

export interface Chunk {
  readonly bytes: Uint8Array;
  /** True when the file was replaced or cut, so that what follows begins at offset 0. */
  readonly restarted: boolean;
}

const chunkBytes = 1024 * 1024;

export class GrowingFile {
  readonly path: string;
  private handle: FileHandle | undefined;
  private inode = 0n;
  private offset = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** The next bytes, or undefined when there are none now. The caller owns them. */
  async read(): Promise<Chunk | undefined> {
    let restarted = false;
    this.handle ??= await this.openAgain();
    let chunk = await this.readChunk();
    if (chunk.length === 0 && (await this.wasReplaced())) {
      await this.close();
      this.handle = await this.openAgain();
      restarted = true;
      chunk = await this.readChunk();
    }
    return chunk.length === 0 && !restarted ? undefined : { bytes: chunk, restarted };
  }

  private async readChunk(): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = (await this.handle?.read(buffer, 0, chunkBytes, this.offset)) ?? { bytesRead: 0 };
    this.offset += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  private async openAgain(): Promise<FileHandle> {
    const handle = await open(this.path);
    this.inode = (await handle.stat({ bigint: true })).ino;
    this.offset = 0;
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
