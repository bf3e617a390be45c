// One reader for each kind of file. `poll` sends what is whole of what was added; `finish` sends what is left at the end.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { findSentinels } from "#wire/cirron/sentinel.ts";
import { EventDecoder } from "#wire/xtrack/decode.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import { findJsonTrouble } from "#wire/xtrack/resync.ts";
import { ExportReader } from "./export-reader.ts";
import type { FoundFile } from "./found-file.ts";
import { GrowingFile } from "./growing-file.ts";
import { LineReader, newline, type Reader, type ReaderOptions, sendBytes } from "./line-reader.ts";

export function createReader(file: FoundFile, options: ReaderOptions): Reader {
  switch (file.kind.name) {
    case "cirron_batch":
      return new BatchReader(file, options);
    case "cirron_blob":
      return new BlobReader(file, options);
    case "cirron_events":
      return new SentinelReader(file, options);
    case "export_lines":
      return new ExportReader(file, options);
    case "semantiva_lines":
      return new TraceLineReader(file, options);
    case "xtrack_frames":
    case "xtrack_mixed":
      return new FrameReader(file, options);
    default:
      throw new Error(`No reader for ${file.kind.name}.`);
  }
}

/** A whole file that is sent once: spool files appear by rename and never change. */
abstract class OnceReader implements Reader {
  protected readonly file: FoundFile;
  protected readonly options: ReaderOptions;
  private done = false;
  constructor(file: FoundFile, options: ReaderOptions) {
    this.file = file;
    this.options = options;
  }
  protected abstract send(): Promise<void>;
  async poll(): Promise<boolean> {
    if (this.done) return false;
    this.done = true;
    await this.send();
    return true;
  }
  async finish(): Promise<void> {
    await this.poll();
  }
}

class BatchReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      // The spool's cap evicts the oldest files, maybe between listing and reading.
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!bytes) return;
    const createdNs = /^(\d{20})-/.exec(basename(path))?.[1];
    if (createdNs !== undefined) await this.options.pace.waitFor(BigInt(createdNs));
    await this.options.sender.sendBatch(path, source, bytes);
  }
}

class BlobReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    // As the SDK itself would name it.
    const key = `snapshots/${basename(dirname(path))}/${basename(path)}`;
    await this.options.sender.sendBlob(path, key, source, createReadStream(path));
  }
}

class TraceLineReader extends LineReader {
  protected async take(bytes: Buffer): Promise<void> {
    if (this.options.pace.windowNs === 0n) return this.send(bytes);
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(newline, start) + 1 || bytes.length;
      const line = bytes.subarray(start, end);
      const time = /"(?:timestamp|started_at)": ?"([^"]+)"/.exec(line.toString("latin1"))?.[1];
      const ms = time === undefined ? Number.NaN : Date.parse(time);
      if (!Number.isNaN(ms)) await this.options.pace.waitFor(BigInt(ms) * 1_000_000n);
      await this.send(line);
      start = end;
    }
  }

  private async send(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    const { path, source } = this.file;
    const { line, offset } = this;
    this.offset += bytes.length;
    for (const byte of bytes) if (byte === newline) this.line++;
    await this.options.sender.sendLines(path, source, bytes, line, offset);
  }
}

/** Output that someone captured, with Cirron's sentinels in it. */
class SentinelReader extends LineReader {
  protected async take(lines: Buffer): Promise<void> {
    const { path, source } = this.file;
    for (const sentinel of findSentinels(lines)) {
      if (sentinel.kind === "trace_batch") await this.options.sender.sendBatch(path, source, sentinel.batch);
    }
  }
}

const runStart = Buffer.from('"run_start"');

class FrameReader implements Reader {
  private readonly file: FoundFile;
  private readonly options: ReaderOptions;
  private readonly growing: GrowingFile;
  private framer = new Framer();
  private decoder = new EventDecoder();
  private held: Uint8Array[] = [];
  /** Stream offset of the first held byte, and of the end of the last whole frame. */
  private heldFrom = 0;
  private wholeTo = 0;
  private windowFromNs: bigint | undefined;
  /** The run of the last run_start before the held bytes. */
  private currentRun: string | null = null;

  constructor(file: FoundFile, options: ReaderOptions) {
    this.file = file;
    this.options = options;
    this.growing = new GrowingFile(file.path);
  }

  async poll(): Promise<boolean> {
    const chunk = await this.growing.read();
    if (!chunk) {
      await this.flush();
      return false;
    }
    if (chunk.restarted) {
      await this.endStream();
      this.framer = new Framer();
      this.decoder = new EventDecoder();
      this.held = [];
      this.heldFrom = 0;
      this.wholeTo = 0;
      this.currentRun = null;
    }
    this.held.push(chunk.bytes);
    this.framer.push(chunk.bytes.slice());
    await this.advance();
    return true;
  }

  async finish(): Promise<void> {
    await this.endStream();
    await this.growing.close();
  }

  private async advance(): Promise<void> {
    const { framer, options } = this;
    for (let step = framer.next(); step !== "wait" && step !== "end"; step = framer.next()) {
      if (step === "frame") {
        const { bytes, frameStart, frameEnd } = framer;
        // A bogus length may reach into the next frames; cutting there would tear them apart.
        if (findJsonTrouble(bytes, frameStart, frameEnd) !== undefined) {
          framer.reject();
          continue;
        }
        const frame = bytes.subarray(frameStart, frameEnd);
        if (options.pace.windowNs > 0n) await this.pace(frame);
        this.noteRun(frame);
      }
      this.wholeTo = framer.settledOffset;
      if (this.wholeTo - this.heldFrom >= sendBytes) await this.flush();
    }
  }

  /** Before a frame that is due later, what came before it is sent. */
  private async pace(frame: Uint8Array): Promise<void> {
    const head = Buffer.from(frame.buffer, frame.byteOffset, Math.min(frame.length, 400)).toString("latin1");
    const us = /"ts": ?(\d{1,18})/.exec(head)?.[1];
    if (us === undefined) return;
    const atNs = BigInt(us) * 1000n;
    if (this.windowFromNs !== undefined && atNs - this.windowFromNs < this.options.pace.windowNs) return;
    this.windowFromNs = atNs;
    await this.flush();
    await this.options.pace.waitFor(atNs);
  }

  private noteRun(frame: Uint8Array): void {
    const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
    if (bytes.subarray(0, 200).includes(runStart)) this.decoder.decode(bytes, 0, bytes.length, 0);
  }

  private async flush(): Promise<void> {
    const length = this.wholeTo - this.heldFrom;
    if (length <= 0) return;
    const bytes = Buffer.concat(this.held);
    this.held = length < bytes.length ? [bytes.subarray(length)] : [];
    const { path, source } = this.file;
    const offset = this.heldFrom;
    this.heldFrom = this.wholeTo;
    const before = this.currentRun;
    this.currentRun = this.decoder.streamRun === "" ? null : this.decoder.streamRun;
    await this.options.sender.sendFrames(path, source, bytes.subarray(0, length), offset, before);
  }

  /** Sends what is left, torn or not: the server tells a torn frame from a whole one. */
  private async endStream(): Promise<void> {
    this.framer.finish();
    await this.advance();
    this.wholeTo = this.heldFrom + this.held.reduce((sum, part) => sum + part.length, 0);
    await this.flush();
  }
}
