// Blocks of spans and marks as the store would give them, out of plain objects.

import { createHash } from "node:crypto";
import { blockFlags, type MarkBlock, noIndex, type SpanBlock, type TextCodes } from "#store/reader/timeline.ts";

export interface PlainSpan {
  readonly id: string;
  readonly parent?: string | null;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly lane?: string;
  readonly gpu?: number;
  readonly index?: bigint;
}

export interface PlainMark {
  readonly span: string;
  readonly name: string;
  readonly at: number;
}

export function toSpanBlock(plain: readonly PlainSpan[]): SpanBlock {
  return {
    rows: plain.length,
    ids: toIds(plain.map(({ id }) => id)),
    parents: toIds(plain.map(({ parent }) => parent ?? "")),
    startNs: BigInt64Array.from(plain, ({ start }) => BigInt(start)),
    endNs: BigInt64Array.from(plain, ({ end }) => BigInt(end)),
    gpuNs: BigInt64Array.from(plain, ({ gpu }) => BigInt(gpu ?? -1)),
    index: BigInt64Array.from(plain, ({ index }) => index ?? noIndex),
    name: toCodes(plain.map(({ name }) => name ?? "a")),
    lane: toCodes(plain.map(({ lane }) => lane ?? "one")),
    flags: Uint8Array.from(plain, ({ parent }) => (typeof parent === "string" ? blockFlags.parent : 0)),
  };
}

export function toMarkBlock(plain: readonly PlainMark[]): MarkBlock {
  return {
    rows: plain.length,
    tsNs: BigInt64Array.from(plain, ({ at }) => BigInt(at)),
    spans: toIds(plain.map(({ span }) => span)),
    name: toCodes(plain.map(({ name }) => name)),
  };
}

/** The hex that an id is known by. */
export function hexOf(id: string): string {
  return createHash("md5").update(id).digest("hex");
}

function toIds(texts: readonly string[]): Uint8Array {
  return new Uint8Array(Buffer.concat(texts.map((text) => Buffer.from(hexOf(text), "hex"))));
}

/** With a key that no row has, as the engine's dictionaries may. */
function toCodes(texts: readonly string[]): TextCodes {
  const keys = ["nobody", ...new Set(texts)];
  return { keys, codes: Uint32Array.from(texts, (text) => keys.indexOf(text)) };
}
