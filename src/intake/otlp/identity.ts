// The identity of an OTLP record within its group: of a span, its trace id and span id; of a log record, the number in its row;
// of everything else, the hash of its content. Each is put into `idWords` as 128 bits.

import { idWords } from "#intake/id-map.ts";
import type { AnyColumn, Rows } from "#model/tables.ts";

/** From the words of a trace id and a span id. Multiplying by odd numbers keeps ids apart that only count up. */
export function loadSpanId(t0: number, t1: number, t2: number, t3: number, s0: number, s1: number): void {
  idWords[0] = t0 ^ Math.imul(s0, 0x9e3779b1);
  idWords[1] = t1 ^ Math.imul(s1, 0x85ebca6b);
  idWords[2] = t2 ^ s1;
  idWords[3] = t3 ^ s0;
}

/** Of a log record, by `logs.seq`. No other identity has this second half. */
export function loadLogId(low: number, high: number): void {
  idWords[0] = low;
  idWords[1] = high;
  idWords[2] = 0x6c6f6773;
  idWords[3] = 0x6f746c70;
}

/** 32 hex. */
export function loadContentId(id: string): void {
  for (let word = 0; word < 4; word++) idWords[word] = Number.parseInt(id.slice(word * 8, word * 8 + 8), 16);
}

/** From the store: 48 hex digits of a span, 32 of a content hash, or the number of a log record. */
export function loadStoredId(text: string): void {
  if (text.length === 32) {
    loadContentId(text);
    return;
  }
  if (text.length === 48) {
    const word = (at: number) => Number.parseInt(text.slice(at * 8, at * 8 + 8), 16);
    loadSpanId(word(0), word(1), word(2), word(3), word(4), word(5));
    return;
  }
  const number = BigInt(text);
  loadLogId(Number(BigInt.asUintN(32, number)), Number(number >> 32n));
}

/** The columns that make the content of a span. The hash is stored, so this list never changes: see `hashRows`. */
export function spanContent({ parent_id, name, start_ns, end_ns, attrs, extra, origin }: Rows<"spans">): AnyColumn[] {
  return [parent_id, name, start_ns, end_ns, attrs, extra, origin];
}

/** The bits of a content hash that an IdMap can keep, so that other content under the same identity is noticed. */
export function toKeptHash(contentHash: number): number {
  return contentHash >>> 1;
}
