// A file to which whole lines are appended. What the disk does not take waits, up to a bound.

import { closeSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "#emit/make-folder.ts";
import { say, toReason } from "#emit/say.ts";

/** Written once so much came, and in portions of this size when more waits. */
const bufferBytesMax = 64 * 1024;
const waitingBytesMax = 16 * 1024 * 1024;

export class LineFile {
  lost = 0;
  private readonly path: string;
  private fd = -1;
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  /** What came since the last flush: a full disk is not asked again for every line. */
  private untriedBytes = 0;
  // How much of the first waiting line is already on disk, after a partial write.
  private offset = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** `line` ends with LF. */
  append(line: Uint8Array): void {
    if (this.waitingBytes + line.length > waitingBytesMax) this.lost++;
    else {
      this.waiting.push(line);
      this.waitingBytes += line.length;
    }
    this.untriedBytes += line.length;
    if (this.untriedBytes >= bufferBytesMax) this.flush();
  }

  /** Never throws. No line is split between two writes, so that several processes can share a file. */
  flush(): void {
    this.untriedBytes = 0;
    if (this.waitingBytes === 0) return;
    try {
      if (this.fd < 0) {
        makeFolder(dirname(this.path));
        this.fd = openSync(this.path, "a");
      }
      while (this.waitingBytes > 0) this.forget(writeSync(this.fd, this.firstLines().subarray(this.offset)));
    } catch (error) {
      // The disk is full or the folder is gone; the next flush tries again.
      say(`cannot write traces to ${dirname(this.path)} (${toReason(error)})`);
    }
  }

  /** What the disk has not taken by now is lost. */
  close(): void {
    this.flush();
    this.lost += this.waiting.length;
    this.waiting = [];
    this.waitingBytes = 0;
    this.offset = 0;
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private firstLines(): Buffer {
    let count = 0;
    for (let bytes = 0; bytes < bufferBytesMax && count < this.waiting.length; count++)
      bytes += (this.waiting[count] as Uint8Array).length;
    return Buffer.concat(this.waiting.slice(0, count));
  }

  private forget(written: number): void {
    let left = written + this.offset;
    let count = 0;
    while (count < this.waiting.length && left >= (this.waiting[count] as Uint8Array).length) {
      left -= (this.waiting[count] as Uint8Array).length;
      this.waitingBytes -= (this.waiting[count] as Uint8Array).length;
      count++;
    }
    this.waiting.splice(0, count);
    this.offset = left;
  }
}
