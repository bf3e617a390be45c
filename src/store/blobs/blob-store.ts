// Files too large for a table: tensors and artifacts. One interface over a folder and over an S3 bucket.

export interface Stored {
  readonly size: number;
  /** Lower-case hex of what was sent now. */
  readonly sha256: string;
  /** False if the key was taken: the first content stays, and what was sent now is discarded. */
  readonly created: boolean;
}

/** Bytes [start, end) of a blob. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** More than this is refused with `too_large`. */
  readonly bytesMax?: number;
  readonly contentType?: string;
}

export interface BlobStore {
  readonly kind: "fs" | "s3";
  /** The store did not answer the last call. */
  readonly isAway: boolean;
  /** Resolves when the blob is durable. If the source fails, nothing is left behind and its own error is thrown. */
  put(key: string, source: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /** Null when there is none. */
  size(key: string): Promise<number | null>;
  /** Throws `missing` before the first chunk when there is none. */
  read(key: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Once moved, moving again does nothing. A blob that is at the new key already stays there. */
  move(from: string, to: string): Promise<void>;
  /** Does nothing when there is none. */
  delete(key: string): Promise<void>;
  /** Deletes every blob whose key begins with the prefix, which ends with `/`; returns how many there were. */
  deletePrefix(prefix: string): Promise<number>;
  close(): Promise<void>;
}

/** `unavailable` may pass; the others will not by themselves. */
export type BlobOutageKind = "missing" | "too_large" | "disk_full" | "refused" | "unavailable";

export class BlobOutage extends Error {
  override readonly name = "BlobOutage";
  readonly kind: BlobOutageKind;

  constructor(kind: BlobOutageKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }

  get retryable(): boolean {
    return this.kind === "unavailable";
  }
}
