// Turns the appends that wait into the bytes of one write.

import { encodeRecordHeader, payloadCrcOf, recordHeaderBytes } from "./layout.ts";

export interface Waiting {
  readonly parts: readonly Uint8Array[];
  /** With the record's header. */
  readonly bytes: number;
  readonly resolve: (position: number) => void;
  readonly reject: (outage: unknown) => void;
}

// Copying a small part is cheaper than one more entry in the list that the kernel walks.
const copyBelowBytes = 16 * 1024;

/** Large parts are written from where they are, so they stay the journal's until the append settles. */
export function encodeGroup(group: readonly Waiting[], firstPosition: number, salt: number) {
  const copied = Buffer.allocUnsafe(copiedBytesOf(group));
  const buffers: Uint8Array[] = [];
  let bytes = 0;
  let at = 0;
  let cut = 0;
  let position = firstPosition;
  for (const { parts, bytes: size } of group) {
    const header = { length: size - recordHeaderBytes, position, payloadCrc: payloadCrcOf(parts, salt) };
    encodeRecordHeader(copied, at, header, salt);
    at += recordHeaderBytes;
    for (const part of parts) {
      if (part.length < copyBelowBytes) {
        copied.set(part, at);
        at += part.length;
      } else {
        buffers.push(copied.subarray(cut, at), part);
        cut = at;
      }
    }
    bytes += size;
    position++;
  }
  if (cut < at) buffers.push(copied.subarray(cut, at));
  return { buffers, bytes };
}

function copiedBytesOf(group: readonly Waiting[]): number {
  let bytes = group.length * recordHeaderBytes;
  for (const { parts } of group) for (const part of parts) if (part.length < copyBelowBytes) bytes += part.length;
  return bytes;
}
