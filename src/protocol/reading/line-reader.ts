// A file of lines that may still grow: whole lines are passed on, many at a time.

import { GrowingFile } from "./growing-file.ts";
import { type FoundFile, headBytes, newline, type Reader, type ReaderOptions, sendBytes } from "./reader.ts";

/** More than any server takes in one request. Of a longer line, only the beginning is sent. */
const lineBytesMax = 128 * 1024 * 1024;

/** Passes whole lines to `take`, many at a time. */
export abstract class LineReader implements Reader {
  protected readonly file: FoundFile;
  protected readonly options: ReaderOptions;
  private readonly growing: GrowingFile;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  /** Whether a line ends in what is held. */
  private holdsEnd = false;
  /** The rest of a line that is too long is being passed over. */
  private isPassing = false;
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
      this.isPassing = false;
    }
    const bytes = this.isPassing ? this.passOver(chunk.bytes) : chunk.bytes;
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    this.holdsEnd ||= bytes.includes(newline);
    if (this.heldBytes >= sendBytes || this.options.pace.windowNs > 0n) await this.sendWhole();
    return true;
  }

  /** Whole lines, unless one is too long or the last of its file. Counts `line` on for each that ends. */
  protected abstract take(lines: Buffer): Promise<void>;

  async finish(): Promise<void> {
    await this.sendAll();
    await this.growing.close();
  }

  /** Sends up to the last line's end; half a line waits for its other half. */
  private async sendWhole(): Promise<void> {
    if (this.holdsEnd) {
      const bytes = this.release();
      const end = bytes.lastIndexOf(newline) + 1;
      this.held = [bytes.subarray(end)];
      this.heldBytes = bytes.length - end;
      await this.take(bytes.subarray(0, end));
    }
    if (this.heldBytes > lineBytesMax) await this.startPassing();
  }

  private async startPassing(): Promise<void> {
    const { path: file } = this.file;
    const message = `The line is longer than ${lineBytesMax} bytes; its beginning is kept.`;
    this.options.sender.note({ file, line: this.line, code: "line_too_long", message });
    this.isPassing = true;
    const bytes = this.release();
    await this.take(bytes.subarray(0, headBytes));
    this.offset += bytes.length - headBytes;
  }

  /** The bytes after the end of the line that is passed over, if it ends in these. */
  private passOver(bytes: Uint8Array): Uint8Array {
    const end = bytes.indexOf(newline) + 1;
    this.isPassing = end === 0;
    if (end > 0) this.line++;
    const passed = end === 0 ? bytes.length : end;
    this.offset += passed;
    return bytes.subarray(passed);
  }

  private async sendAll(): Promise<void> {
    await this.sendWhole();
    await this.take(this.release());
  }

  /** What was held. */
  private release(): Buffer {
    const bytes = Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    this.holdsEnd = false;
    return bytes;
  }
}
