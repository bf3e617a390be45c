// A Cirron batch as an input: one request body, as it was sent.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { keepFault } from "#intake/refused.ts";
import { releaseRows } from "#model/tables.ts";
import type { CirronBatch, DecodeResult } from "#wire/cirron/batch.ts";
import { decodeBatchInSteps } from "#wire/cirron/decode.ts";
import { applyCirronBatch } from "./apply.ts";
import { isLong, LongBatch } from "./long-batch.ts";

export interface CirronBatchInput extends Input {
  readonly kind: "cirron_batch";
}

export const batchInputs: InputKind<CirronBatchInput> = {
  kind: "cirron_batch",
  *decode({ body }, { json }) {
    return toDecodedBatch(body, yield* decodeBatchInSteps(body, json));
  },
};

/** For a caller that has already decoded the body to check it. */
export function toDecodedBatch(body: Uint8Array, result: DecodeResult): Decoded {
  if (!result.ok) {
    const { refusal } = result;
    return {
      prepare: () => null,
      apply: (_, arrival, position) => keepFault(refusal, "cirron", arrival, position),
    };
  }
  const { batch } = result;
  const release = (): void => releaseBatch(batch);
  if (isLong(body, batch)) {
    const long = new LongBatch(body, batch);
    return {
      isLong: true,
      release,
      prepare: ({ cirron, leaving }, arrival) => cirron.prepareLong(arrival, long, leaving),
      apply: ({ cirron }, arrival, position) => long.apply(cirron.of(arrival.workspace), arrival, position),
    };
  }
  return {
    release,
    prepare: ({ cirron, leaving }, arrival) => cirron.prepare(arrival, batch, leaving),
    foresee: ({ cirron }, arrival) => cirron.foresee(arrival, batch),
    apply: ({ cirron }, arrival, position) =>
      applyCirronBatch(cirron.of(arrival.workspace), position, { ...arrival, body }, batch),
  };
}

function releaseBatch({ spans, marks, snapshots }: CirronBatch): void {
  // Columns without rows may be those that all such batches share.
  if (spans.span_id.length > 0) releaseRows(spans);
  if (marks.mark_id.length > 0) releaseRows(marks);
  if (snapshots.snapshot_id.length > 0) releaseRows(snapshots);
}
