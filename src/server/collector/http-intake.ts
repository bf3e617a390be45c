// Requests → inputs of the collector. A refusal is journalled too: what could not be understood is kept.

import type { RefusedInput } from "#intake/input.ts";
import type { Receipt as Applied, Submitted } from "#intake/sequencer.ts";
import { XtrackStream } from "#intake/xtrack/stream.ts";
import type { Fault } from "#model/fault.ts";
import type { Busy, HttpInput, Intake, Receipt } from "#server/http/ports.ts";
import type { DecodeResult } from "#wire/cirron/decode.ts";
import type { Collector } from "./collector.ts";

/** How long a client is asked to wait when there is no room: time for the store to take a few plans. */
const retryAfterS = { memory_full: 1, disk_full: 5 } as const;

export function createHttpIntake(collector: Collector): Intake {
  return {
    async submit(input) {
      switch (input.kind) {
        case "cirron_batch":
          return submitBatch(collector, input);
        case "xtrack_frames":
          return submitFrames(collector, input);
        case "semantiva_lines":
        case "log_lines":
        case "wrapper_lines":
        case "refused":
          return toReceipt(collector.submit(input), null);
      }
    },
    queryable: (position) => collector.queryable(position),
  };
}

async function submitBatch(
  collector: Collector,
  input: Extract<HttpInput, { kind: "cirron_batch" }>,
): Promise<Receipt | Busy> {
  const decoded = collector.applier.decode(input) as DecodeResult;
  if (!decoded.ok) {
    const receipt = await toReceipt(collector.submit(toRefused(input, decoded.refusal)), null);
    return "busy" in receipt ? receipt : { ...receipt, faults: [decoded.refusal] };
  }
  const submitted = collector.submit(input, decoded);
  if (typeof submitted === "string") return { busy: true, retryAfterS: retryAfterS[submitted] };
  // Durable is enough for the answer: whether rows are new is found out while the client goes on.
  submitted.applied.catch(() => undefined);
  const position = await submitted.durable;
  return { position, accepted: 0, duplicates: 0, faults: [], batchId: decoded.batch.batchId };
}

function toRefused(input: Extract<HttpInput, { kind: "cirron_batch" }>, fault: Fault): RefusedInput {
  const { packed: _, ...arrival } = input;
  return {
    ...arrival,
    kind: "refused",
    protocol: "cirron",
    code: fault.code,
    detail: fault.detail,
    place: JSON.stringify(fault.place),
    body: fault.raw,
  };
}

/** A body of frames is a stream of its own: it is framed here, and what lies between frames becomes faults. */
async function submitFrames(
  collector: Collector,
  input: Extract<HttpInput, { kind: "xtrack_frames" }>,
): Promise<Receipt | Busy> {
  const stream = new XtrackStream({ file: input.file, offset: input.offset, currentRun: input.currentRun });
  const chunks = [stream.push(input.body), stream.finish()].filter((chunk) => chunk !== null && !chunk.isEmpty);
  let total: Receipt = {
    position: collector.sequencer.position.durable,
    accepted: 0,
    duplicates: 0,
    faults: [],
    batchId: null,
  };
  for (const chunk of chunks) {
    if (chunk === null) continue;
    const { body, offset, currentRun, decoded } = chunk;
    const receipt = await toReceipt(collector.submit({ ...input, body, offset, currentRun }, decoded), null);
    if ("busy" in receipt) return receipt;
    total = {
      position: receipt.position,
      accepted: total.accepted + receipt.accepted,
      duplicates: total.duplicates + receipt.duplicates,
      faults: [...total.faults, ...receipt.faults],
      batchId: null,
    };
  }
  return total;
}

async function toReceipt(submitted: Submitted, batchId: string | null): Promise<Receipt | Busy> {
  if (typeof submitted === "string") return { busy: true, retryAfterS: retryAfterS[submitted] };
  const applied: Applied = await submitted.applied;
  return { ...applied, batchId };
}
