// What the journal holds: every input as it came, with what only the moment of arrival knows. Decoding a
// record again gives the same rows, whichever process does it and whenever.
//
// Byte layout of a record: u8 version · u32 little-endian length of the head · head, JSON in UTF-8 · body. In version 1
// the body is as it is; in version 2 it is as it was sent, compressed, and `packed` in the head says how.

import { gunzipSync, inflateSync } from "node:zlib";

/** A body as it was sent. It is what the journal keeps: a tenth of the bytes to write and sync. */
export interface PackedBody {
  readonly encoding: "gzip" | "deflate";
  readonly bytes: Uint8Array;
}

export interface Arrival {
  readonly workspace: string;
  /** http, tcp, unix, ws, file, run, … : by which way it came. */
  readonly transport: string;
  /** The key or the import folder it came from: one of the ties between Cirron batches of one process. */
  readonly source: string;
  /** The run named by the path, the wrapper or `--run-id`, whatever the records themselves say. */
  readonly runOverride: string | null;
  /** By import of something that was written earlier, not from a live client. */
  readonly imported: boolean;
  readonly receivedNs: bigint;
  /** How many faults are kept one by one. A large body makes several records, which share the usual bound. */
  readonly faultsMax?: number;
  /** The journal record that this one stands for: that could not be applied when its turn came, and was put off. */
  readonly copyOf?: number;
}

export interface CirronBatchInput extends Arrival {
  readonly kind: "cirron_batch";
  readonly body: Uint8Array;
  readonly packed?: PackedBody;
}

export interface SemantivaLinesInput extends Arrival {
  readonly kind: "semantiva_lines";
  /** Whole lines. */
  readonly body: Uint8Array;
  readonly packed?: PackedBody;
  /** The file the lines came from, '' for none, and where in it or in the stream the body begins. */
  readonly file: string;
  readonly firstLine: number;
  readonly offset: number;
}

export interface XtrackFramesInput extends Arrival {
  readonly kind: "xtrack_frames";
  /** Whole frames, or bytes between frames that could not be understood. */
  readonly body: Uint8Array;
  readonly file: string;
  readonly offset: number;
  /** The run of the stream's last `run_start`, for events that name none. */
  readonly currentRun: string | null;
}

/** Lines that a program under `tributary run` printed. */
export interface LogLinesInput extends Arrival {
  readonly kind: "log_lines";
  readonly body: Uint8Array;
  readonly wrapperId: string;
  readonly stream: "stdout" | "stderr";
  readonly offset: number;
  /** When the lines were printed, where that is known; else when they arrived. */
  readonly printedNs?: string;
}

/** What `tributary run` tells of the program it runs: whole JSON lines. */
export interface WrapperLinesInput extends Arrival {
  readonly kind: "wrapper_lines";
  readonly body: Uint8Array;
  readonly wrapperId: string;
}

/** A blob was stored under an object key; its bytes are in the blob store, not here. */
export interface BlobInput extends Arrival {
  readonly kind: "blob";
  readonly spanId: string;
  readonly blobKind: string;
  readonly objectKey: string;
  readonly size: number;
  readonly sha256: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Something that was refused: kept as a fault with its bytes. */
export interface RefusedInput extends Arrival {
  readonly kind: "refused";
  readonly protocol: string;
  readonly code: string;
  readonly detail: string;
  /** JSON of the FaultPlace. */
  readonly place: string;
  /** Of a fault that was kept elsewhere before: its identity there and the rows it stands with. */
  readonly faultId?: string;
  readonly groupKey?: string;
  readonly body: Uint8Array;
}

/** A change of the small state: keys, edits, deletions, commands, the wrapper's start and exit. */
export interface ChangeInput extends Arrival {
  readonly kind: "change";
  readonly change: string;
  readonly author: string;
  /** JSON, by `change`. */
  readonly body: Uint8Array;
}

export type Input =
  | CirronBatchInput
  | SemantivaLinesInput
  | XtrackFramesInput
  | LogLinesInput
  | WrapperLinesInput
  | BlobInput
  | RefusedInput
  | ChangeInput;

const [plainVersion, packedVersion] = [1, 2];
const headStart = 5;
const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

/** The parts of the journal record, to be written one after the other; the body is not copied. */
export function encodeInput(input: Input): Uint8Array[] {
  const { body, receivedNs, packed, ...rest } = input as Input & { packed?: PackedBody };
  const words = { ...rest, receivedNs: receivedNs.toString() };
  if (packed === undefined) return [...encodeHead(plainVersion, words), body];
  const how = { encoding: packed.encoding, bytes: body.length };
  return [...encodeHead(packedVersion, { ...words, packed: how }), packed.bytes];
}

function encodeHead(version: number, words: object): Uint8Array[] {
  const head = textEncoder.encode(JSON.stringify(words));
  const prefix = new Uint8Array(headStart);
  prefix[0] = version;
  new DataView(prefix.buffer).setUint32(1, head.length, true);
  return [prefix, head];
}

/** Null when the record is none of ours: the journal's checksum held, so it is from another version. */
export function decodeInput(record: Uint8Array): Input | null {
  const version = record[0];
  if (record.length < headStart || (version !== plainVersion && version !== packedVersion)) return null;
  const headLength = new DataView(record.buffer, record.byteOffset).getUint32(1, true);
  const bodyStart = headStart + headLength;
  if (bodyStart > record.length) return null;
  const words = JSON.parse(textDecoder.decode(record.subarray(headStart, bodyStart))) as Record<string, unknown>;
  const { packed: how, ...head } = words;
  const body = record.subarray(bodyStart);
  const receivedNs = BigInt(head["receivedNs"] as string);
  if (version === plainVersion) return { ...head, receivedNs, body } as Input;
  const { encoding, bytes } = how as { encoding: PackedBody["encoding"]; bytes: number };
  const unpack = encoding === "gzip" ? gunzipSync : inflateSync;
  const options = { maxOutputLength: Math.max(1, bytes) };
  return { ...head, receivedNs, body: unpack(body, options), packed: { encoding, bytes: body } } as unknown as Input;
}
