// 32 bits of an event's content, to tell a copy from another event with the same identity. Metrics are hashed by their
// values, which the fast path has at hand; every other event by its bytes.

import { crc32 } from "node:zlib";
import type { Rows } from "#model/tables.ts";
import type { OwnedRows } from "./event-columns.ts";

/** 0 and 1 mean "no event" and "content not known" where hashes are kept, so no hash is one of them. */
function finish(hash: number): number {
  return ((hash ^ (hash >>> 13)) | 2) >>> 0;
}

function mix(hash: number, word: number): number {
  return Math.imul(hash ^ word, 0x9e3779b1) ^ (hash >>> 15);
}

export function hashText(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}

/** For more bytes the runtime's checksum is faster than a loop. Hashes are only kept in memory, so either may change. */
const longBytes = 4096;

export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= longBytes) return finish(crc32(bytes.subarray(start, end)));
  let hash = end - start;
  for (let at = start; at < end; at++) hash = mix(hash, bytes[at] as number);
  return finish(hash);
}

/** What the rows of one event share. Absent numbers are 0. */
export function hashShared(phase: number, ctx: number, step: number, epoch: number): number {
  // Steps beyond 2^53 differ in `step_text` or by more than one, so 32 bits of the nearest double are enough here.
  return mix(mix(mix(phase, ctx), step | 0), epoch | 0);
}

/** Adds one row; only the last step of this depends on the row before. */
export function hashValue(hash: number, key: number, low: number, high: number): number {
  return mix(hash, key ^ Math.imul(low, 0x85ebca6b) ^ Math.imul(high, 0xc2b2ae35));
}

export function hashEnd(hash: number): number {
  return finish(hash);
}

const stepRows = 4096;

/** The same hash from rows [first, end), whatever they hold, with pauses among many. */
export function* hashMetricRows({ rows }: OwnedRows<"metrics">, first: number, end: number): Generator<void, number> {
  const step = Number(rows.step.inner.at(first));
  const epoch = Number(rows.epoch.inner.at(first));
  let hash = hashShared(hashText(rows.phase.at(first)), hashText(rows.ctx.at(first)), step, epoch);
  for (let from = first; from < end; from += stepRows) {
    if (from > first) yield;
    hash = hashRows(hash, rows, from, Math.min(end, from + stepRows));
  }
  return finish(hash);
}

function hashRows(before: number, rows: Rows<"metrics">, first: number, end: number): number {
  let hash = before;
  const texts = [rows.value_text, rows.step_text, rows.extra, rows.raw];
  for (let row = first; row < end; row++) {
    double[0] = rows.value.inner.at(row);
    hash = hashValue(hash, hashText(rows.key.at(row)), doubleWords[0] as number, doubleWords[1] as number);
    for (const { bytes, ends } of texts) {
      const [from, to] = [row === 0 ? 0 : (ends[row - 1] as number), ends[row] as number];
      if (to > from) hash = mix(hash, hashBytes(bytes, from, to));
    }
  }
  return hash;
}

const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);
