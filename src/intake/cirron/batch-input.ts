// A Cirron batch as an input: one body of a client, as it was sent.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { keepFault } from "#intake/refused.ts";
import { type DecodeResult, decodeBatch } from "#wire/cirron/decode.ts";
import { applyCirronBatch } from "./apply.ts";

export interface CirronBatchInput extends Input {
  readonly kind: "cirron_batch";
}

export const batchInputs: InputKind<CirronBatchInput> = {
  kind: "cirron_batch",
  decode: ({ body }, { json }) => toDecodedBatch(body, decodeBatch(body, json)),
};

/** For who has decoded the body already, to refuse it if it is none. */
export function toDecodedBatch(body: Uint8Array, result: DecodeResult): Decoded {
  if (!result.ok) {
    const { refusal } = result;
    return {
      prepare: () => null,
      apply: (_, arrival, position) => keepFault(refusal, "cirron", arrival, position),
    };
  }
  const { batch } = result;
  return {
    prepare: ({ cirron, leaving }, arrival) => cirron.prepare(arrival, batch, leaving),
    apply: ({ cirron }, arrival, position) =>
      applyCirronBatch(cirron.of(arrival.workspace), position, { ...arrival, body }, batch),
  };
}
