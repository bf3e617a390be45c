// Spans and marks on their way from the store to the timeline: columns without objects, since a run may have a million.

/** Texts by code. A block's keys may hold some that none of its rows has. */
export interface TextCodes {
  readonly keys: readonly string[];
  readonly codes: Uint32Array;
}

/** Some spans and node executions as they are stored, in no order. */
export interface SpanBlock {
  readonly rows: number;
  /** 16 bytes a span: the id itself when it is 32 hex digits, else a hash (see `OddIds`). */
  readonly ids: Uint8Array;
  /** The same of the parent; without meaning where `flags` has no `parent`. */
  readonly parents: Uint8Array;
  readonly startNs: BigInt64Array;
  readonly endNs: BigInt64Array;
  /** -1 when there is none. */
  readonly gpuNs: BigInt64Array;
  /** Scope index; `noIndex` when there is none. */
  readonly index: BigInt64Array;
  readonly name: TextCodes;
  readonly lane: TextCodes;
  /** `node`, `error` of `timelineFlags`, and `blockFlags`. */
  readonly flags: Uint8Array;
}

export interface MarkBlock {
  readonly rows: number;
  readonly tsNs: BigInt64Array;
  /** As `SpanBlock.ids`. */
  readonly spans: Uint8Array;
  readonly name: TextCodes;
}

/** The tables that a timeline is made of. */
export const timelineTables = ["spans", "nodes", "marks"] as const;
export type TimelineTable = (typeof timelineTables)[number];

/** Rows of some groups that came behind one journal position and not behind another. */
export interface RowRange {
  readonly groups: readonly string[];
  readonly after: bigint;
  readonly last: bigint;
}

/** The texts of ids that are no 32 hex digits, by the hex of their hash. */
export type OddIds = ReadonlyMap<string, string>;

export const noIndex: bigint = -(2n ** 63n);

/** Bits of `flags`, as the API has them. */
export const timelineFlags = { placeholder: 1, unfinished: 2, node: 4, error: 8, orphan: 16 } as const;

/** Bits that only blocks have: the span names a parent; its id or its parent's is no 32 hex digits. */
export const blockFlags = { parent: 32, odd: 64 } as const;
