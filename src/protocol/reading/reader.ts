// Files → requests: what the reader of a kind of file is given, and where it sends what it read.

import type { IngestRoute } from "#protocol/facts.ts";
import type { IngestQuery } from "#protocol/protocol.ts";

export interface FoundFile {
  readonly path: string;
  /** The folder whose files belong together: one process' spool, or where the file lies. */
  readonly source: string;
}

/** `poll` sends what is whole of what was added; `finish` sends what is left at the end. */
export interface Reader {
  /** False when there was nothing new. */
  poll(): Promise<boolean>;
  finish(): Promise<void>;
}

export interface ReaderOptions {
  readonly sender: RecordSender;
  readonly pace: Pace;
}

/** Replays at the speed things happened, or a multiple of it. */
export interface Pace {
  /** Resolves when it is time for something that happened at this moment. */
  waitFor(atNs: bigint): Promise<void>;
  /** Things closer together than this need not be told apart; 0 when everything goes at once. */
  readonly windowNs: bigint;
}

/** Where the bytes of a request come from and go to. */
export interface Shipment {
  readonly route: IngestRoute;
  readonly file: string;
  /** Null where the route does not ask. */
  readonly source: string | null;
  /** The run it belongs to, where the records themselves do not say it. */
  readonly run?: string | undefined;
  readonly query?: IngestQuery;
}

/** A stream can be read only once, so each try begins a new one. */
export type ReadBytes = () => AsyncIterable<Uint8Array>;

/** What could not be taken, and where it stands. */
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

/** About as much as goes into one request. */
export const sendBytes: number = 4 * 1024 * 1024;
export const newline: number = 0x0a;
/** What is kept of a line that is too long for a request. */
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
