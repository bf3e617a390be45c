// A Cirron batch as an input: one request body, as it was sent.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { keepFault } from "#intake/refused.ts";
import type { DecodeResult } from "#wire/cirron/batch.ts";
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
  if (isLong(body, batch)) {
    const long = new LongBatch(body, batch);
    return {
      isLong: true,
      prepare: ({ cirron, leaving }, arrival) => cirron.prepareLong(arrival, long, leaving),
      apply: ({ cirron }, arrival, position) => long.apply(cirron.of(arrival.workspace), arrival, position),
    };
  }
  return {
    prepare: ({ cirron, leaving }, arrival) => cirron.prepare(arrival, batch, leaving),
    foresee: ({ cirron }, arrival) => cirron.foresee(arrival, batch),
    apply: ({ cirron }, arrival, position) =>
      applyCirronBatch(cirron.of(arrival.workspace), position, { ...arrival, body }, batch),
  };
}
