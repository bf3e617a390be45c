// The place of a record among everything that arrived: when it came, whose journal it came by, its position there and
// its row in that. Each collector counts its own positions, so without its name they identify nothing.

import type { ParamValue } from "#store/params.ts";
import { decimal, int, type RowOf, text } from "./native-rows.ts";

/** A journal record. */
export const journalPlace = { received_ns: decimal, collector: text, jpos: decimal };
export type JournalPlace = RowOf<typeof journalPlace>;

/** A record in it. */
export const recordPlace = { ...journalPlace, jrow: int };
export type RecordPlace = RowOf<typeof recordPlace>;

export const journalOrder = "received_ns, collector, jpos";
export const placeOrder = `${journalOrder}, jrow`;

export function sortedBy(direction: "ASC" | "DESC"): string {
  return placeOrder.replaceAll(",", ` ${direction},`).concat(` ${direction}`);
}

/** A place to compare `placeOrder` with, given as parameters whose names begin with `prefix`. */
export function placeParams(prefix: string): string {
  return `({${prefix}1:Int64}, {${prefix}2:String}, {${prefix}3:Int64}, {${prefix}4:UInt32})`;
}

export function paramsOfPlace(prefix: string, place: RecordPlace): Record<string, ParamValue> {
  return {
    [`${prefix}1`]: place.received_ns,
    [`${prefix}2`]: place.collector,
    [`${prefix}3`]: place.jpos,
    [`${prefix}4`]: place.jrow,
  };
}

/** `formatJournalPlace` in SQL. */
export const journalPlaceSql = "concat(if(collector = '', '', concat(toString(collector), '-')), toString(jpos))";

/** `formatRowPlace` in SQL. */
export const rowPlaceSql = `concat(${journalPlaceSql}, '.', toString(jrow))`;

export function isSamePlace(a: RecordPlace, b: RecordPlace): boolean {
  return a.jpos === b.jpos && a.jrow === b.jrow && a.collector === b.collector;
}
