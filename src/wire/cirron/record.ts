// What spans, marks and snapshots have in common: an id and a time, and the trouble with a record that lacks them.

import { jsonKind } from "#base/json/cursor.ts";
import { isInt64 } from "./fill.ts";
import type { RecordTable } from "./record-table.ts";

/** Why a record cannot become a row. */
export interface RecordTrouble {
  readonly field: string;
  readonly reason: string;
}

export const emptyObject = Uint8Array.of(0x7b, 0x7d);
export const emptyList = Uint8Array.of(0x5b, 0x5d);

/** The id is a row's identity, so there is no row without it. Asks about the record that was just read. */
export function troubleWithId(table: RecordTable, field: number): RecordTrouble | null {
  const cell = table.count * table.width + field;
  if (table.kinds[cell] === jsonKind.string && table.to[cell] !== table.from[cell]) return null;
  return describe(table, field, "must be a text that is not empty");
}

/** Rows are ordered by time, so a row without one is a fault. */
export function troubleWithTime(table: RecordTable, field: number): RecordTrouble | null {
  if (isInt64(table, table.count * table.width + field)) return null;
  return describe(table, field, "must be an integer of 64 bits");
}

function describe(table: RecordTable, field: number, rule: string): RecordTrouble {
  const cell = table.count * table.width + field;
  const name = table.names[field] as string;
  if (table.kinds[cell] === 0) return { field: name, reason: `${rule}, it is missing` };
  const text = table.sent(cell);
  return { field: name, reason: `${rule}, found ${text.length > 60 ? `${text.slice(0, 60)}…` : text}` };
}
