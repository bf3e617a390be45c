// A message that a page of lines has only the beginning of, asked for by its line's time.

import type { LogRow } from "#api/contract/record.ts";
import { call } from "../../data/client.ts";

export async function readWholeMessage(run: string, row: LogRow, signal?: AbortSignal): Promise<string> {
  if (row.cut_from === undefined) return row.msg;
  const query = { from_ns: row.ts_ns, to_ns: String(BigInt(row.ts_ns) + 1n), limit: 1000, chars: row.cut_from };
  const { logs } = await call("logs", { params: { id: run }, query }, signal);
  return logs.find((each) => each.id === row.id)?.msg ?? row.msg;
}
