// Spans as the timeline needs them: columns without objects, since a run may have a million.

export interface TimelineSpans {
  readonly count: number;
  /** Nanoseconds after `baseNs`; exact up to 104 days. */
  readonly baseNs: bigint;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** GPU time in nanoseconds, -1 when there is none. */
  readonly gpu: Float64Array;
  /** Scope index; `noIndex` when there is none. */
  readonly index: BigInt64Array;
  /** 16 bytes a span; ids that are no 32 hex are known by a hash, and by text in `oddIds`. */
  readonly ids: Uint8Array;
  readonly oddIds: ReadonlyMap<string, string>;
  readonly name: Uint32Array;
  readonly names: readonly string[];
  readonly lane: Uint32Array;
  readonly lanes: readonly string[];
  readonly flags: Uint8Array;
}

export const noIndex: bigint = -(2n ** 63n);

/** Bits of `flags`, as the API has them. */
export const timelineFlags = { placeholder: 1, unfinished: 2, node: 4, error: 8, orphan: 16 } as const;
