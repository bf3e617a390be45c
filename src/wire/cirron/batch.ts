// What a Cirron batch is decoded to.

import type { Fault } from "#model/fault.ts";
import type { Rows } from "#model/tables.ts";

export interface CirronBatch {
  readonly batchId: string;
  /** When the client sealed the batch; 0 when it did not say so with an integer (then see `extra`). */
  readonly createdNs: bigint;
  readonly sdkVersion: string;
  /**
   * The rows, in the order they were sent and owned by the caller. Columns that only intake can fill are empty:
   * group_key, content_hash, received_ns, jpos, jrow.
   */
  readonly spans: Rows<"spans">;
  readonly marks: Rows<"marks">;
  readonly snapshots: Rows<"snapshots">;
  /** Strict JSON object of unknown top-level keys and odd header values, '' when there are none. */
  readonly extra: string;
  /** Records that could not become rows. */
  readonly faults: readonly Fault[];
}

export type DecodeResult =
  | { readonly ok: true; readonly batch: CirronBatch }
  | { readonly ok: false; readonly refusal: Fault };
