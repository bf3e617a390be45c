// Reads a request's body within limits that hold before anything is allocated for it: bytes on the wire, bytes after
// decompression, and how many of the latter one of the former may become.

import type { IncomingMessage } from "node:http";
import { PassThrough, Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import {
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  gunzipSync,
  inflate,
  zstdDecompress,
} from "node:zlib";
import { Refusal } from "#api/refusal.ts";
import { freeBuffer, isFreeable } from "#base/free-buffer.ts";
import type { Share } from "#server/unfinished-bytes.ts";
import { letBodyCome } from "./continue.ts";
import { refuseRevoked } from "./endings.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

const gunzipBytes = promisify(gunzip);
const inflateBytes = promisify(inflate);
const unzstdBytes = promisify(zstdDecompress);

export interface BodyLimits {
  readonly bytesMax: number;
  /** How many bytes one compressed byte may become. */
  readonly ratioMax: number;
}

/** A refusal of a body, with what was read of it, so that it can be kept as a fault. */
export class BodyRefusal extends Refusal {
  readonly read: Uint8Array;
  constructor(refusal: { code: BodyCode; message: string; hint: string }, read: Uint8Array) {
    super(refusal.code, refusal.message, { hint: refusal.hint, at: { part: "body" } });
    this.read = read;
  }
}

export type BodyCode = "body_too_large" | "body_ratio" | "body_encoding" | "body_cut";

// A small body of one repeated byte may compress beyond any ratio, and harms nobody.
const freeBytes = 1024 * 1024;

export interface Body {
  /** Decompressed. */
  readonly bytes: Uint8Array;
  /** As it was sent, if that is shorter. */
  readonly packed?: { readonly encoding: "gzip" | "deflate"; readonly bytes: Uint8Array };
}

export interface ReadBody extends Body {
  /**
   * Call it when nobody reads any more what was sent (`packed`, or else `bytes`); null if there is nothing to release.
   */
  readonly releaseSent: (() => void) | null;
  /** Call it when nobody reads any of it any more. */
  readonly release: (() => void) | null;
}

/**
 * Resolves when a whole body may be unpacked, given its size as sent and roughly its size then; null if it may be
 * unpacked at once.
 */
export type AwaitPlace = (sentBytes: number, unpackedBytes: number) => Promise<void> | null;

/** Calls `onGone` when the sender may send no more; returns how to stop watching. */
export type WatchSender = (onGone: () => void) => () => void;

/**
 * Reads the whole body. Throws a BodyRefusal; the rest of the request is then read and thrown away. `isReleased`: the
 * caller will call `release`.
 */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  share: Share,
  watchSender: WatchSender,
  awaitPlace?: AwaitPlace,
  isReleased = false,
): Promise<ReadBody> {
  const encoding = readEncoding(request);
  if (Number(request.headers["content-length"] ?? 0) > limits.bytesMax) {
    request.resume();
    throw new BodyRefusal(tooLarge(limits.bytesMax), new Uint8Array(0));
  }
  letBodyCome(request);
  // Whatever came with the head is there once the parser has passed it on.
  if (!isWhole(request)) await null;
  const gathered = new GatheredBytes(isReleased || encoding !== "identity");
  const sent =
    readWhole(request, limits.bytesMax, share) ??
    (await readSent(request, limits.bytesMax, share, watchSender, gathered));
  const waiting = awaitPlace?.(sent.length, unpackedBytesOf(sent, encoding)) ?? null;
  if (waiting !== null) await waiting;
  const body = await unpack(sent, encoding, limits, share);
  const releaseSent = gathered.isJoined ? () => gathered.release() : null;
  if (encoding === "identity" || !isFreeable(body.bytes.length)) return { ...body, releaseSent, release: releaseSent };
  const release = (): void => {
    releaseSent?.();
    freeBuffer(body.bytes);
  };
  return { ...body, releaseSent, release };
}

/** The usual growth of a body whose encoding does not tell its size. */
const usualRatio = 8;

/** An estimate if the encoding does not tell. */
export function unpackedBytesOf(sent: Uint8Array, encoding: Encoding): number {
  if (encoding === "identity") return sent.length;
  return sizeOf(sent, encoding) ?? sent.length * usualRatio;
}

/** Decompresses what was sent. Throws a BodyRefusal. */
export async function unpack(sent: Uint8Array, encoding: Encoding, limits: BodyLimits, share: Share): Promise<Body> {
  if (encoding === "identity") return { bytes: sent };
  const byRatio = Math.max(freeBytes, sent.length * limits.ratioMax);
  try {
    const bytes = await decode(sent, encoding, Math.min(limits.bytesMax, byRatio));
    if (!share.hold(sent.length + bytes.length)) throw refuseCrowded();
    // The journal keeps only what every release can unpack.
    if (encoding === "zstd") return { bytes };
    return sent.length < bytes.length ? { bytes, packed: { encoding, bytes: sent } } : { bytes };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw new BodyRefusal(byRatio < limits.bytesMax ? ratio(limits.ratioMax) : tooLarge(limits.bytesMax), sent);
    }
    throw new BodyRefusal(notEncoded(encoding), sent);
  }
}

/** At most this much is decoded at once, whatever size a body claims: too little to hold up other requests. */
const smallBytes = 512 * 1024;
const chunkBytesUsual = 64 * 1024;
const chunkBytesMost = 4 * 1024 * 1024;

const decoders = { gzip: gunzipBytes, deflate: inflateBytes, zstd: unzstdBytes } as const;

async function decode(sent: Uint8Array, encoding: Packing, maxOutputLength: number): Promise<Uint8Array> {
  const size = sizeOf(sent, encoding);
  const small = size === null ? null : decodeSmall(sent, size, maxOutputLength);
  if (small !== null) return small;
  const chunkSize = Math.max(chunkBytesUsual, Math.min((size ?? 0) + 1, chunkBytesMost));
  return decoders[encoding](sent, { maxOutputLength, chunkSize });
}

/**
 * A gzip body ends with its size, and deflate turns one byte into at most 1032. If the size is known, the output gets
 * one buffer of it, plus a byte so that the end is seen with room left. The default chunks of 16 KiB would each cost a
 * trip to another thread, and in the end a copy of everything.
 */
function sizeOf(sent: Uint8Array, encoding: Packing): number | null {
  if (encoding !== "gzip" || sent.length < 18) return null;
  const size = new DataView(sent.buffer, sent.byteOffset + sent.length - 4, 4).getUint32(0, true);
  return Math.min(size, sent.length * 1032);
}

/**
 * A small body is decoded here and now. To hand it to another thread and to hear of its end takes more processor time in all,
 * and with many C libraries this thread may have to wait until the other one has got a core. Null for one that is not small,
 * or that becomes more than it says.
 */
function decodeSmall(sent: Uint8Array, size: number, bytesMax: number): Uint8Array | null {
  if (size > smallBytes || sent.length > smallBytes || bytesMax < smallBytes) return null;
  try {
    return gunzipSync(sent, { maxOutputLength: smallBytes, chunkSize: Math.max(1024, size + 1) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

/** The decompressed body as a stream, for bodies too large for memory; it errors with a BodyRefusal at the limit. */
export function createBodyStream(request: IncomingMessage, limits: BodyLimits): Readable {
  const encoding = readEncoding(request);
  if (Number(request.headers["content-length"] ?? 0) > limits.bytesMax) {
    request.resume();
    throw new BodyRefusal(tooLarge(limits.bytesMax), new Uint8Array(0));
  }
  letBodyCome(request);
  let sent = 0;
  let received = 0;
  // A destroyed request cannot be answered, so it is read through an iterator that leaves it alive.
  async function* readCounted() {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      sent += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  }
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > limits.bytesMax) done(new BodyRefusal(tooLarge(limits.bytesMax), new Uint8Array(0)));
      else if (received > freeBytes && received > sent * limits.ratioMax) {
        done(new BodyRefusal(ratio(limits.ratioMax), new Uint8Array(0)));
      } else done(null, chunk);
    },
  });
  const decoder = streamDecoders[encoding]();
  // The reader gets the error through the last stream; here the rest of the request is thrown away.
  pipeline(Readable.from(readCounted()), decoder, counter).catch(() => request.resume());
  return counter;
}

const streamDecoders = {
  gzip: () => createGunzip(),
  deflate: () => createInflate(),
  zstd: () => createZstdDecompress(),
  identity: () => new PassThrough(),
} as const;

/** The refusal if an error of the body's stream was the body's fault. */
export function toBodyRefusal(error: unknown, { headers }: IncomingMessage): BodyRefusal | undefined {
  if (error instanceof BodyRefusal) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (/^(?:Z|ZSTD)_/.test(code)) {
    const encoding = toEncoding(headers["content-encoding"]) ?? "identity";
    return new BodyRefusal(notEncoded(encoding), new Uint8Array(0));
  }
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") return new BodyRefusal(cut, new Uint8Array(0));
  return undefined;
}

type Packing = "gzip" | "deflate" | "zstd";
type Encoding = "identity" | Packing;

/** Null for an unknown word. */
export function toEncoding(header: string | undefined): Encoding | null {
  const word = (header ?? "identity").trim().toLowerCase();
  if (word === "" || word === "identity") return "identity";
  if (word === "gzip" || word === "x-gzip") return "gzip";
  return word === "deflate" || word === "zstd" ? word : null;
}

function readEncoding(request: IncomingMessage): Encoding {
  const word = request.headers["content-encoding"];
  const encoding = toEncoding(word);
  if (encoding !== null) return encoding;
  request.resume();
  throw new Refusal("encoding_unknown", `The content encoding ${JSON.stringify(word)} is not supported.`, {
    hint: "Send gzip, deflate, zstd, or the bytes as they are.",
    at: { part: "header", name: "content-encoding" },
    headers: { "accept-encoding": "gzip, deflate, zstd" },
  });
}

/**
 * The body of a request that has come whole, as nearly every small one has when its turn comes: listening for its
 * pieces would take longer than decoding them. Null if it must be listened for.
 */
function readWhole(request: IncomingMessage, bytesMax: number, share: Share): Uint8Array | null {
  if (!isWhole(request) || request.readableFlowing !== null || request.destroyed) return null;
  const { readableLength: length } = request;
  if (length === 0 || length > bytesMax || !share.hold(length)) return null;
  const bytes = request.read() as Buffer;
  // The end of the request, which is all that is left, comes only to a reader.
  request.resume();
  return bytes;
}

/** The parser reports the last byte before it reports the end. */
function isWhole({ complete, readableLength, headers }: IncomingMessage): boolean {
  return complete || (readableLength > 0 && readableLength === Number(headers["content-length"]));
}

/** Gathers the bytes as they come, never more than the limit. */
function readSent(
  request: IncomingMessage,
  bytesMax: number,
  share: Share,
  watchSender: WatchSender,
  gathered: GatheredBytes,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const announcedBytes = Number(request.headers["content-length"] ?? 0);
    request.on("data", (chunk: Buffer) => {
      const length = gathered.length + chunk.length;
      if (length <= bytesMax && share.hold(length)) {
        gathered.add(chunk, announcedBytes);
        return;
      }
      request.removeAllListeners("data");
      request.resume();
      const isTooLarge = length > bytesMax;
      reject(
        isTooLarge
          ? new BodyRefusal(tooLarge(bytesMax), new Uint8Array(gathered.view().subarray(0, shownBytesMax)))
          : refuseCrowded(),
      );
      gathered.release();
    });
    // Most bodies are whole by now and need no watch.
    if (!request.complete) {
      const endSpeed = watchSpeed(
        () => gathered.length,
        () => request.destroy(),
      );
      const endSender = watchSender(() => request.destroy(refuseRevoked()));
      for (const endWatch of [endSpeed, endSender]) {
        request.once("close", endWatch);
        request.once("end", endWatch);
      }
    }
    request.once("end", () => resolve(gathered.view()));
    const onCut = () => reject(new BodyRefusal(cut, gathered.view()));
    // Nothing is kept of a sender whose key was revoked, not even a fault.
    request.once("error", (error) => (error instanceof Refusal ? reject(error) : onCut()));
    request.once("close", () => {
      if (!request.complete) onCut();
    });
  });
}

/** How much of a body beyond the limit is shown. */
const shownBytesMax = 64 * 1024;

/** A slower sender than this is not training over any real network; it only occupies memory. */
const slowBytesPerS = 1024;
const lookEveryMs = 30_000;

/**
 * Calls `onSlow` if bytes arrive too slowly; returns how to stop watching. Looks are counted rather than timed, and the
 * first one never counts, because a server that stood still has not read what came meanwhile.
 */
export function watchSpeed(arrivedBytes: () => number, onSlow: () => void): () => void {
  let looks = 0;
  const timer = setInterval(() => {
    looks++;
    if (looks > 1 && arrivedBytes() < looks * (lookEveryMs / 1000) * slowBytesPerS) onSlow();
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

function refuseCrowded(): Refusal {
  return new Refusal("busy", "Other arriving bodies take all the memory reserved for them.", {
    hint: "Send it again after the time in Retry-After, or send smaller bodies; nothing was taken.",
    headers: { "retry-after": "1" },
  });
}

const cut = {
  code: "body_cut",
  message: "The connection ended before the body did.",
  hint: "Send it again.",
} as const;

function tooLarge(bytesMax: number) {
  return {
    code: "body_too_large",
    message: `The body is larger than ${bytesMax} bytes.`,
    hint: "Send smaller bodies, or raise `limits.body` (`limits.blob` for files).",
  } as const;
}

function ratio(ratioMax: number) {
  return {
    code: "body_ratio",
    message: `The body's compression ratio is above ${ratioMax}.`,
    hint: "Send it uncompressed, or raise `limits.ratio`.",
  } as const;
}

function notEncoded(encoding: Encoding) {
  return {
    code: "body_encoding",
    message: `The body is not ${encoding}, although the header says so.`,
    hint: "Compress the whole body once, or leave Content-Encoding out.",
  } as const;
}
