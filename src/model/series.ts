// Points of metrics on their way from the store to a series: columns, since a series may have a million.

import type { StoredRows } from "./fingerprint.ts";
import type { TextCodes } from "./timeline.ts";

export type SeriesAxis = "step" | "epoch" | "time" | "relative";

/**
 * What is read of the points. `steps`: their own steps. `epochs`: their own steps and epochs. `places`: steps and
 * epochs, those of the enclosing spans where a mark has none of its own, which change when a span comes.
 */
export type PointKind = "steps" | "epochs" | "places";

export interface PointRequest {
  readonly groups: readonly string[];
  readonly keys: readonly string[];
  readonly kind: PointKind;
}

/** Points in no order, of several groups and keys. */
export interface PointBlock {
  readonly rows: number;
  readonly group: TextCodes;
  readonly key: TextCodes;
  /** `rankWorker` for a mark: its worker is the rank of its group. */
  readonly worker: TextCodes;
  readonly phase: TextCodes;
  readonly step: BigInt64Array;
  /** Null when it was not asked for. */
  readonly epoch: BigInt64Array | null;
  readonly tsNs: BigInt64Array;
  readonly value: Float64Array;
  /** XTrack's sequence number; for a mark, which has none, a hash of its id. It tells points of one time apart. */
  readonly tie: BigInt64Array;
  readonly entry: Int32Array;
  /** Bits of `pointFlags`. */
  readonly flags: Uint8Array;
}

/** What a point lacks: its column has a 0 there. */
export const pointFlags = { noStep: 1, noEpoch: 2, noValue: 4 } as const;

export const rankWorker = "\u0001rank";

/** The stored points of one group and key. */
export interface StoredPoints extends StoredRows {
  readonly group: string;
  readonly key: string;
}
