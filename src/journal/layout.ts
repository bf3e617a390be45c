// The bytes of a journal segment. All integers are little-endian.
//
//   file name   <ordinal, 8 digits>-<first record number, 16 digits>-<salt, 8 hex>.journal
//
//   segment     0   8  magic "TRIBJNL1" (the last byte is the version)
//               8   8  number of the first record, u64
//               16  4  salt, u32
//               20  4  CRC-32 of bytes 0..19
//               24     records, back to back
//
//   record      0   4  mark "JREC"
//               4   4  length of the payload, u32
//               8   8  record number, u64, one more than the record before
//               16  4  CRC-32 of the payload, seeded with the salt
//               20  4  CRC-32 of bytes 0..19, seeded with the salt
//               24     payload
//
// Two checksums, because they answer different questions: when only the payload is damaged its length can
// still be trusted and exactly one record is lost; when the header is damaged we look for the next mark.
// The salt is random for each segment, so bytes of a record that someone sends us as a payload never pass
// for a record while we look. The name repeats what the segment header says, so that a damaged header costs
// nothing.
//
// Segments are ordered by ordinal, and **a segment ends where the next one begins**: a record whose number is
// not below the first number of the next segment was written to a file that then failed, was never
// acknowledged, and does not exist.

import { crc32 } from "node:zlib";

export const segmentHeaderBytes = 24;
export const recordHeaderBytes = 24;

/** The longest payload the length field and a single read can hold with room to spare. */
export const payloadBytesCeiling: number = 2 ** 31 - 1;

const two32 = 2 ** 32;
const magic = Buffer.from("TRIBJNL1", "latin1");
export const recordMark: Uint8Array = Buffer.from("JREC", "latin1");
const recordMarkWord = Buffer.from(recordMark).readUInt32LE(0);

export interface SegmentName {
  readonly ordinal: number;
  readonly first: number;
  readonly salt: number;
}

export function formatSegmentName({ ordinal, first, salt }: SegmentName): string {
  const hex = salt.toString(16).padStart(8, "0");
  return `${String(ordinal).padStart(8, "0")}-${String(first).padStart(16, "0")}-${hex}.journal`;
}

export function parseSegmentName(name: string): SegmentName | undefined {
  const match = /^(\d{8,})-(\d{16})-([0-9a-f]{8})\.journal$/.exec(name);
  if (match === null) return undefined;
  return { ordinal: Number(match[1]), first: Number(match[2]), salt: Number.parseInt(match[3] as string, 16) };
}

export function encodeSegmentHeader({ first, salt }: SegmentName): Uint8Array {
  const bytes = Buffer.alloc(segmentHeaderBytes);
  magic.copy(bytes);
  writeUInt64(bytes, 8, first);
  bytes.writeUInt32LE(salt, 16);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20);
  return bytes;
}

/** Another version is distinguished from damage: the former is refused, the latter tolerated. */
export function judgeSegmentHeader(bytes: Uint8Array, name: SegmentName): "good" | "damaged" | "other_version" {
  const expected = encodeSegmentHeader(name);
  if (Buffer.compare(bytes, expected) === 0) return "good";
  const isOurs = Buffer.compare(bytes.subarray(0, 7), expected.subarray(0, 7)) === 0;
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isWhole = bytes.length === segmentHeaderBytes && crc32(header.subarray(0, 20)) === header.readUInt32LE(20);
  return isOurs && isWhole && bytes[7] !== expected[7] ? "other_version" : "damaged";
}

export interface RecordHeader {
  readonly length: number;
  readonly position: number;
  readonly payloadCrc: number;
}

export function payloadCrcOf(parts: readonly Uint8Array[], salt: number): number {
  let crc = salt;
  for (const part of parts) crc = crc32(part, crc);
  return crc;
}

export function encodeRecordHeader(into: Buffer, at: number, header: RecordHeader, salt: number): void {
  into.writeUInt32LE(recordMarkWord, at);
  into.writeUInt32LE(header.length, at + 4);
  writeUInt64(into, at + 8, header.position);
  into.writeUInt32LE(header.payloadCrc, at + 16);
  into.writeUInt32LE(crc32(into.subarray(at, at + 20), salt), at + 20);
}

/** The header at a place, or undefined if these bytes are not a header. */
export function decodeRecordHeader(bytes: Buffer, at: number, salt: number): RecordHeader | undefined {
  if (bytes.readUInt32LE(at) !== recordMarkWord) return undefined;
  if (bytes.readUInt32LE(at + 20) !== crc32(bytes.subarray(at, at + 20), salt)) return undefined;
  const position = bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * two32;
  return { length: bytes.readUInt32LE(at + 4), position, payloadCrc: bytes.readUInt32LE(at + 16) };
}

function writeUInt64(into: Buffer, at: number, value: number): void {
  into.writeUInt32LE(value % two32, at);
  into.writeUInt32LE(Math.floor(value / two32), at + 4);
}
