// Cirron batches over HTTP. A client drops a batch for good on most 4xx, so a duplicate is a success, and what is no
// batch is kept as a fault. Durable is enough for the answer: whether rows are new is found out while the client goes on.

import type { HttpDoor, IngestRequest, TakenRequest } from "#protocol/protocol.ts";
import { decodeBatch } from "#wire/cirron/decode.ts";

const routes = ["cirron", "cirronDefault", "cirronRun"] as const;

export const cirronDoors: readonly HttpDoor[] = routes.map((route) => ({ route, take }));

function take({ arrival, body, packed, limits }: IngestRequest): TakenRequest {
  const decoded = decodeBatch(body, limits.json);
  const input = { ...arrival, kind: "cirron_batch" as const, body, ...(packed === undefined ? {} : { packed }) };
  return {
    submissions: [{ input, decoded }],
    refused: decoded.ok ? null : decoded.refusal,
    answerWhen: "durable",
    toReply: () => ({ status: 202, body: { batch_id: decoded.ok ? decoded.batch.batchId : null } }),
  };
}
