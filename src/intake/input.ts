// What the journal holds: every input as it came, with what is only known when it arrives. Decoding a
// record again gives the same rows in every process, at any time.
//
// Byte layout of a record: u8 version · u32 little-endian length of the head · head, JSON in UTF-8 · body. In version 1
// the body is as it is; in version 2 it is as it was sent, compressed, and `packed` in the head says how.

import { promisify } from "node:util";
import { gunzip, gunzipSync, inflate, inflateSync } from "node:zlib";
import { nowNs, type ServerNs } from "#base/clock.ts";

/** A body as it was sent. It is what the journal keeps: a tenth of the bytes to write and sync. */
export interface PackedBody {
  readonly encoding: "gzip" | "deflate";
  readonly bytes: Uint8Array;
}

export interface Arrival {
  readonly workspace: string;
  /** How it came: http, tcp, unix, ws, file, run, … */
  readonly transport: string;
  /** The key or the import folder it came from: one of the ties between Cirron batches of one process. */
  readonly source: string;
  /** The run named by the path, the wrapper or `--run-id`, whatever the records themselves say. */
  readonly runOverride: string | null;
  /** It came by import of something that was written earlier, not from a live client. */
  readonly imported: boolean;
  readonly receivedNs: ServerNs;
  /** How many faults are kept one by one. The records of a large body share the usual bound. */
  readonly faultsMax?: number;
  /** The journal record that this one is a copy of: it could not be applied when its turn came, and was put off. */
  readonly copyOf?: number;
}

/** The arrival of what the server itself puts into the journal. */
export function ownArrival(workspace: string): Arrival {
  return { workspace, transport: "server", source: "", runOverride: null, imported: false, receivedNs: nowNs() };
}

/** What rows carry of the arrival of their journal record. */
export interface ArrivedAt extends Omit<Arrival, "source"> {
  readonly position: number;
}

/** One journal record. Further fields of a kind of input are in the record's head, as its protocol declares them. */
export interface Input extends Arrival {
  readonly kind: string;
  readonly body: Uint8Array;
  readonly packed?: PackedBody;
}

const [plainVersion, packedVersion] = [1, 2];
const headStart = 5;
const textDecoder = new TextDecoder();

/** The parts of the journal record, to be written one after the other; the body is not copied. */
export function encodeInput(input: Input): Uint8Array[] {
  const { body, packed } = input;
  const receivedNs = input.receivedNs.toString();
  // What is undefined is left out of JSON.
  if (packed === undefined) return [encodeHead(plainVersion, { ...input, receivedNs, body: undefined }), body];
  const how = { encoding: packed.encoding, bytes: body.length };
  return [encodeHead(packedVersion, { ...input, receivedNs, body: undefined, packed: how }), packed.bytes];
}

function encodeHead(version: number, words: object): Uint8Array {
  const text = JSON.stringify(words);
  const head = Buffer.allocUnsafe(headStart + Buffer.byteLength(text));
  head.writeUInt8(version, 0);
  head.writeUInt32LE(head.length - headStart, 1);
  head.write(text, headStart);
  return head;
}

/** Null if the record is not ours: its checksum is right, so it is from another version. */
export function decodeInput(record: Uint8Array): Input | null {
  const parts = takeApart(record);
  if (parts === null || parts.packed === null) return parts?.input ?? null;
  const { encoding, bytes } = parts.packed;
  const unpack = encoding === "gzip" ? gunzipSync : inflateSync;
  return {
    ...parts.input,
    body: unpack(parts.input.body, { maxOutputLength: Math.max(1, bytes), chunkSize: toChunkSize(bytes) }),
  };
}

/** A larger body is unpacked by another thread. */
const unpackedAtOnce = 1024 * 1024;

/** The same; a promise for a record that takes long. */
export function decodeInputAside(record: Uint8Array): Input | null | Promise<Input | null> {
  const parts = takeApart(record);
  if (parts === null || parts.packed === null || parts.packed.bytes <= unpackedAtOnce) return decodeInput(record);
  const { encoding, bytes } = parts.packed;
  const unpack = encoding === "gzip" ? unzipped : inflated;
  return unpack(parts.input.body, { maxOutputLength: bytes, chunkSize: toChunkSize(bytes) }).then((body) => ({
    ...parts.input,
    body,
  }));
}

/** One buffer for all of it, with a byte to spare so that the end is seen: otherwise many small ones are copied into one. */
function toChunkSize(bytes: number): number {
  return Math.max(chunkBytesMin, Math.min(bytes + 1, chunkBytesMax));
}

const [chunkBytesMin, chunkBytesMax] = [1024, 4 * 1024 * 1024];

const unzipped = promisify(gunzip);
const inflated = promisify(inflate);

interface RecordParts {
  /** Its body is as it was sent. */
  readonly input: Input;
  /** How to unpack it; null when it is not packed. */
  readonly packed: { readonly encoding: PackedBody["encoding"]; readonly bytes: number } | null;
}

function takeApart(record: Uint8Array): RecordParts | null {
  const version = record[0];
  if (record.length < headStart || (version !== plainVersion && version !== packedVersion)) return null;
  const headLength = new DataView(record.buffer, record.byteOffset).getUint32(1, true);
  const bodyStart = headStart + headLength;
  if (bodyStart > record.length) return null;
  const words = JSON.parse(textDecoder.decode(record.subarray(headStart, bodyStart))) as Record<string, unknown>;
  const { packed: how, ...head } = words;
  const body = record.subarray(bodyStart);
  const receivedNs = BigInt(head["receivedNs"] as string);
  if (version === plainVersion) return { input: { ...head, receivedNs, body } as Input, packed: null };
  const packed = how as NonNullable<RecordParts["packed"]>;
  const asSent = { encoding: packed.encoding, bytes: body };
  return { input: { ...head, receivedNs, body, packed: asSent } as unknown as Input, packed };
}
