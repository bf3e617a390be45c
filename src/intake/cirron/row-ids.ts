// The ids of a batch's rows as the store keeps them to find their groups again: 63 bits of each, with the hour in which
// its row begins.

import type { Int64Column, StringColumn } from "#base/columns.ts";
import { idWords, toIdWords } from "#intake/id-map.ts";
import type { Rows } from "#model/tables.ts";

const hourNs = 3_600_000_000_000;
const two32 = 4_294_967_296;

/** A time in nanoseconds as a double. It is only compared with times that are rounded in the same way. */
export function timeAt({ words }: Int64Column, row: number): number {
  return ((words[row * 2 + 1] as number) | 0) * two32 + (words[row * 2] as number);
}

/** The hour of a time, counted from 1970. The store computes it from doubles too. */
export function hourOfTime(time: number): number {
  return Math.floor(time / hourNs);
}

export function hourOf(ns: bigint): number {
  return hourOfTime(Number(ns));
}

/** The halves of an id's stored key: its 128 bits folded into 63. */
export function keyLow(words: Uint32Array = idWords, at = 0): number {
  return ((words[at + 1] as number) ^ (words[at + 3] as number)) >>> 0;
}

export function keyHigh(words: Uint32Array = idWords, at = 0): number {
  return ((words[at] as number) ^ (words[at + 2] as number)) & 0x7fffffff;
}

export function storedKey(): bigint {
  return (BigInt(keyHigh()) << 32n) | BigInt(keyLow());
}

/** Adds the id in `idWords` of a row that begins at this time. */
export function pushStoredKey(rows: Rows<"cirron_ids">, time: number): void {
  rows.id_key.pushWords(keyLow(), keyHigh());
  rows.hour.push(hourOfTime(time));
}

/** Puts the id of a row of a column into `idWords`. */
export function loadId({ bytes, ends }: StringColumn, row: number): void {
  toIdWords(bytes, row === 0 ? 0 : (ends[row - 1] as number), ends[row] as number);
}

/** Whether the text is not empty and the same as that of the row before. */
export function isRepeated({ bytes, ends }: StringColumn, row: number): boolean {
  if (row === 0) return false;
  const start = ends[row - 1] as number;
  const size = (ends[row] as number) - start;
  if (size === 0 || start - (row === 1 ? 0 : (ends[row - 2] as number)) !== size) return false;
  for (let at = start; at < start + size; at++) if (bytes[at] !== bytes[at - size]) return false;
  return true;
}

/** The literal "root" names no span: it links nothing. */
export function isRootWord({ bytes, ends }: StringColumn, row: number): boolean {
  const start = row === 0 ? 0 : (ends[row - 1] as number);
  if ((ends[row] as number) - start !== 4) return false;
  return bytes[start] === 0x72 && bytes[start + 1] === 0x6f && bytes[start + 2] === 0x6f && bytes[start + 3] === 0x74;
}
