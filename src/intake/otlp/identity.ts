// What a record of OTLP is known by within its group: a span by its trace and its own id, a log record by the number in
// its row, everything else by the hash of what it says. Each is 128 bits in the scratch that an IdMap reads.

import { idWords } from "#intake/id-map.ts";
import type { AnyColumn, Rows } from "#model/tables.ts";

/** The words of a trace id and a span id. Multiplying by odd numbers keeps ids apart that only count up. */
export function loadSpanId(t0: number, t1: number, t2: number, t3: number, s0: number, s1: number): void {
  idWords[0] = t0 ^ Math.imul(s0, 0x9e3779b1);
  idWords[1] = t1 ^ Math.imul(s1, 0x85ebca6b);
  idWords[2] = t2 ^ s1;
  idWords[3] = t3 ^ s0;
}

/** A log record, by `logs.seq`. Nothing else has this second half. */
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

/** A record as the store tells it: 48 hex of a span, 32 hex of a content, or the number of a log record. */
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

/** What makes the content of a span. Its hash is stored, so this list never changes: see `hashRows`. */
export function spanContent({ parent_id, name, start_ns, end_ns, attrs, extra, origin }: Rows<"spans">): AnyColumn[] {
  return [parent_id, name, start_ns, end_ns, attrs, extra, origin];
}

/** What an IdMap keeps of a content, so that another content under the same identity is seen. */
export function toKeptHash(contentHash: number): number {
  return contentHash >>> 1;
}
