// Files → requests: what the reader of a kind of file gets, and where it sends what it read.

import type { IngestRoute } from "#protocol/facts.ts";
import type { IngestQuery } from "#protocol/protocol.ts";

export interface FoundFile {
  readonly path: string;
  /** The folder whose files belong together: the spool of a process, or the folder of the file. */
  readonly source: string;
}

/** `poll` sends what was added, as far as it is complete; `finish` sends what is left at the end. */
export interface Reader {
  /** False when there was nothing new. */
  poll(): Promise<boolean>;
  finish(): Promise<void>;
}

export interface ReaderOptions {
  readonly sender: RecordSender;
  readonly pace: Pace;
}

/** Replays records at the speed at which they happened, or a multiple of it. */
export interface Pace {
  /** Resolves when it is time for something that happened at this moment. */
  waitFor(atNs: bigint): Promise<void>;
  /** Records closer together than this may be sent together; 0 when everything is sent at once. */
  readonly windowNs: bigint;
}

/** Where the bytes of a request come from, and where they go. */
export interface Shipment {
  readonly route: IngestRoute;
  readonly file: string;
  /** Null where the route has no such parameter. */
  readonly source: string | null;
  /** The run to which it belongs, if the records do not name it. */
  readonly run?: string | undefined;
  readonly query?: IngestQuery;
}

/** A stream can be read only once, so each try begins a new one. */
export type ReadBytes = () => AsyncIterable<Uint8Array>;

/** What could not be taken, and where it is. */
export interface ReadFault {
  readonly file: string;
  readonly line?: number;
  readonly offset?: number;
  readonly code: string;
  readonly message: string;
}

export interface RecordSender {
  send(shipment: Shipment, bytes: Uint8Array): Promise<void>;
  sendBlob(file: string, key: string, source: string, read: ReadBytes): Promise<void>;
  note(fault: ReadFault): void;
}

/** About how much goes into one request. */
export const sendBytes: number = 4 * 1024 * 1024;
export const newline: number = 0x0a;
/** How much is kept of a line that is too long for a request. */
export const headBytes: number = 4096;

/** A whole file that is sent once: files that appear by rename never change. */
export abstract class OnceReader implements Reader {
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
