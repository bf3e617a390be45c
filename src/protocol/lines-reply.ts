// The answer to a body of many records: how many were new, and the place of every fault.

import type { IngestReceipt, Reply } from "./protocol.ts";

export function toLinesReply({ accepted, duplicates, faults }: IngestReceipt, place: "line" | "offset"): Reply {
  const told = faults.map(({ code, detail, place: at }) => ({ [place]: at[place] ?? 0, code, message: detail }));
  return { status: 202, body: { accepted, duplicates, faults: told } };
}
