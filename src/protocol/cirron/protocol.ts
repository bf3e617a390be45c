// Cirron batches over HTTP. On most 4xx answers a client drops its batch for good, so a duplicate is a success, and a body
// that is not a batch is kept as a fault. The answer is sent as soon as the batch is durable; which rows are new is found out
// afterwards. Only an import, for which a person waits, is told how many there were.

import { inTurns } from "#base/turns.ts";
import { blobInputs } from "#intake/blob.ts";
import { batchInputs, type CirronBatchInput, toDecodedBatch } from "#intake/cirron/batch-input.ts";
import type { HttpDoor, IngestRequest, Protocol, TakenRequest } from "#protocol/protocol.ts";
import { decodeBatch, decodeBatchInSteps } from "#wire/cirron/decode.ts";
import { cirronFacts } from "./facts.ts";
import { detectCirron } from "./files.ts";
import { cirronRecords, exportedBatch } from "./stored-records.ts";

const routes = ["cirron", "cirronDefault", "cirronRun"] as const;

const cirronDoors: readonly HttpDoor[] = routes.map((route) => ({ route, copiesBody: true, take }));

/** A larger batch is decoded in turns with other work. */
const bytesAtOnce = 256 * 1024;

async function take({ arrival, body, packed, limits }: IngestRequest): Promise<TakenRequest> {
  const result =
    body.length > bytesAtOnce ? await inTurns(decodeBatchInSteps(body, limits.json)) : decodeBatch(body, limits.json);
  const kind = batchInputs.kind;
  const input: CirronBatchInput = { ...arrival, kind, body, ...(packed === undefined ? {} : { packed }) };
  const isRead = arrival.transport === "file";
  const batch_id = result.ok ? result.batch.batchId : null;
  return {
    submissions: [{ input, decoded: toDecodedBatch(body, result) }],
    refused: result.ok ? null : result.refusal,
    answerWhen: isRead ? "applied" : "durable",
    toReply: ({ accepted, duplicates }) => ({
      status: 202,
      body: isRead ? { batch_id, accepted, duplicates } : { batch_id },
    }),
  };
}

export const cirron: Protocol = {
  facts: cirronFacts,
  inputs: [batchInputs, blobInputs],
  doors: cirronDoors,
  detect: detectCirron,
  exported: [exportedBatch],
  records: cirronRecords,
};
