// A file of lines that may still grow: whole lines are given on, many at a time.

import { GrowingFile } from "./growing-file.ts";
import { type FoundFile, newline, type Reader, type ReaderOptions, sendBytes } from "./reader.ts";

/** Gives whole lines to `take`, many at a time. */
export abstract class LineReader implements Reader {
  protected readonly file: FoundFile;
  protected readonly options: ReaderOptions;
  private readonly growing: GrowingFile;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  protected line = 1;
  protected offset = 0;

  constructor(file: FoundFile, options: ReaderOptions) {
    this.file = file;
    this.options = options;
    this.growing = new GrowingFile(file.path);
  }

  async poll(): Promise<boolean> {
    const chunk = await this.growing.read();
    if (!chunk) {
      await this.sendWhole();
      return false;
    }
    if (chunk.restarted) {
      await this.sendAll();
      this.line = 1;
      this.offset = 0;
    }
    this.held.push(chunk.bytes);
    this.heldBytes += chunk.bytes.length;
    if (this.heldBytes >= sendBytes || this.options.pace.windowNs > 0n) await this.sendWhole();
    return true;
  }

  protected abstract take(lines: Buffer): Promise<void>;

  async finish(): Promise<void> {
    await this.sendAll();
    await this.growing.close();
  }

  /** Sends up to the last line's end; half a line waits for its other half. */
  private async sendWhole(): Promise<void> {
    const bytes = Buffer.concat(this.held);
    const end = bytes.lastIndexOf(newline) + 1;
    this.held = end < bytes.length ? [bytes.subarray(end)] : [];
    this.heldBytes = bytes.length - end;
    await this.take(bytes.subarray(0, end));
  }

  private async sendAll(): Promise<void> {
    await this.sendWhole();
    const rest = Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    await this.take(rest);
  }
}
