// The answer to a body of many records: how many were new, and the place of every fault.

import { toRestFault } from "#model/fault-list.ts";
import type { IngestReceipt, Reply, TakenRequest } from "./protocol.ts";

/** How many faults an answer names. The Integrity page shows all that are kept. */
const namedMax = 1000;

/** For a body of many records, whose faults are known when they are applied. */
export function takeRecords(submissions: TakenRequest["submissions"], place: "line" | "offset"): TakenRequest {
  return {
    submissions,
    refused: null,
    answerWhen: "applied",
    toReply: (receipt) => toLinesReply(receipt, place),
  };
}

export function toLinesReply({ accepted, duplicates, faults }: IngestReceipt, place: "line" | "offset"): Reply {
  const named = faults.slice(0, namedMax);
  const [first] = faults.slice(namedMax);
  if (first !== undefined) named.push(toRestFault(first, faults.length - namedMax));
  const told = named.map(({ code, detail, place: at }) => ({ [place]: at[place] ?? 0, code, message: detail }));
  return { status: 202, body: { accepted, duplicates, faults: told } };
}
