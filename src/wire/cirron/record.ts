// What spans, marks and snapshots have in common: an id, a time, and what is wrong with a record that lacks them.

import { isInt64 } from "./cells.ts";
import type { RecordScan } from "./record-scan.ts";

/** Why a record cannot become a row. */
export interface RecordTrouble {
  readonly field: string;
  readonly reason: string;
}

export const emptyObject = Uint8Array.of(0x7b, 0x7d);
export const emptyList = Uint8Array.of(0x5b, 0x5d);

/** The id is a row's identity, so there is no row without it. */
export function troubleWithId(scan: RecordScan, field: number): RecordTrouble | null {
  if (scan.isText(field) && scan.to[field] !== scan.from[field]) return null;
  return { field: nameOf(scan, field), reason: `must be a text that is not empty, ${found(scan, field)}` };
}

/** Rows are placed by their time, so there is none without it. */
export function troubleWithTime(scan: RecordScan, field: number): RecordTrouble | null {
  if (isInt64(scan, field)) return null;
  return { field: nameOf(scan, field), reason: `must be an integer of 64 bits, ${found(scan, field)}` };
}

function nameOf(scan: RecordScan, field: number): string {
  return scan.names[field] as string;
}

function found(scan: RecordScan, field: number): string {
  if (scan.isAbsent(field)) return "it is missing";
  const text = scan.sent(field);
  return `found ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`;
}
