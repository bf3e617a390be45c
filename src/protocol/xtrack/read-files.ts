// A file of frames that may still grow → requests that end where a frame ends.

import type { IngestQuery } from "#protocol/protocol.ts";
import { GrowingFile } from "#protocol/reading/growing-file.ts";
import { type FoundFile, type Reader, type ReaderOptions, sendBytes } from "#protocol/reading/reader.ts";
import { Framer, type Skipped } from "#wire/xtrack/frame.ts";
import { findJsonTrouble } from "#wire/xtrack/resync.ts";
import { StreamRun } from "#wire/xtrack/stream-run.ts";

const heldBytesMax = 160 * 1024 * 1024;

export class FrameReader implements Reader {
  private readonly file: FoundFile;
  private readonly options: ReaderOptions;
  private readonly growing: GrowingFile;
  /** There may be text between the frames. */
  private readonly text: boolean;
  private framer: Framer;
  private run = new StreamRun();
  private held: Uint8Array[] = [];
  /** Stream offset of the first held byte, and of the end of the last whole frame. */
  private heldFrom = 0;
  private wholeTo = 0;
  private windowFromNs: bigint | undefined;
  /** The run of the last run_start before the held bytes. */
  private currentRun: string | null = null;

  constructor(file: FoundFile, options: ReaderOptions, text: boolean) {
    this.file = file;
    this.options = options;
    this.text = text;
    this.framer = new Framer({ text });
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
      this.framer = new Framer({ text: this.text });
      this.run = new StreamRun();
      this.held = [];
      this.heldFrom = 0;
      this.wholeTo = 0;
      this.currentRun = null;
    }
    this.held.push(chunk.bytes);
    this.framer.push(chunk.bytes.slice());
    await this.advance();
    const heldTo = this.heldFrom + this.held.reduce((sum, part) => sum + part.length, 0);
    // No frame is this long, so the beginning belongs to none.
    if (heldTo - this.wholeTo > heldBytesMax) {
      await this.flush();
      this.dropHeld(heldTo - heldBytesMax / 2);
    }
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
        // A bogus length may extend into the next frames; a request that ends there would tear them apart.
        if (findJsonTrouble(bytes, frameStart, frameEnd) !== undefined) {
          framer.reject();
          continue;
        }
        const frame = bytes.subarray(frameStart, frameEnd);
        // A large frame is sent alone: together with those before it, it would not fit into a request.
        if (framer.settledOffset - this.heldFrom > sendBytes) await this.flush();
        if (options.pace.windowNs > 0n) await this.pace(frame);
        this.run.note(frame);
      } else if (step === "skipped" && framer.skipped !== undefined && framer.skipped.length > sendBytes) {
        await this.sendHead(framer.skipped);
      }
      this.wholeTo = framer.settledOffset;
      if (this.wholeTo - this.heldFrom >= sendBytes) await this.flush();
    }
  }

  /** Sends only the beginning of a long range without an intact frame: more would not be kept. */
  private async sendHead({ offset, raw }: Skipped): Promise<void> {
    this.wholeTo = Math.max(this.heldFrom, offset);
    await this.flush();
    this.dropHeld(this.framer.settledOffset);
    await this.send(raw, offset, this.currentRun);
  }

  private dropHeld(to: number): void {
    const bytes = Buffer.concat(this.held).subarray(to - this.heldFrom);
    this.held = bytes.length > 0 ? [bytes] : [];
    this.heldFrom = to;
    this.wholeTo = to;
  }

  private async send(bytes: Uint8Array, offset: number, currentRun: string | null): Promise<void> {
    const { path, source } = this.file;
    const current = currentRun === null ? {} : { current_run: currentRun };
    const query: IngestQuery = { offset, ...current, ...(this.text ? { text: "1" } : {}) };
    await this.options.sender.send({ route: "xtrack", file: path, source, query }, bytes);
  }

  /** Waits until a frame is due, and sends what came before it first. */
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

  private async flush(): Promise<void> {
    const length = this.wholeTo - this.heldFrom;
    if (length <= 0) return;
    const bytes = Buffer.concat(this.held);
    this.held = length < bytes.length ? [bytes.subarray(length)] : [];
    const offset = this.heldFrom;
    this.heldFrom = this.wholeTo;
    const before = this.currentRun;
    this.currentRun = this.run.current;
    await this.send(bytes.subarray(0, length), offset, before);
  }

  /** Sends what is left, torn or not: the server finds out. */
  private async endStream(): Promise<void> {
    this.framer.finish();
    await this.advance();
    this.wholeTo = this.heldFrom + this.held.reduce((sum, part) => sum + part.length, 0);
    await this.flush();
  }
}
