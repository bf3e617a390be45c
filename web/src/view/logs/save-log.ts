// The lines that a search finds, all of them, as a text file.

import type { LogRow, LogsQuery } from "#api/contract/record.ts";
import { call } from "../../data/client.ts";
import { readPages } from "../../data/use-pages.ts";
import { saveFile } from "../../part/save-file.ts";
import { formatTime, toMs } from "../../text/format-time.ts";
import type { LogFilter } from "./log-tail.ts";

export async function saveLog(
  run: { readonly id: string; readonly name: string },
  filter: LogFilter,
  onLines: (lines: number) => void,
): Promise<void> {
  // Pages become blobs at once, which the browser may keep on disk.
  const parts: Blob[] = [];
  let lines = 0;
  const query: LogsQuery = { ...filter, limit: 1000, order: "asc" };
  for await (const { logs } of readPages("logs", { params: { id: run.id }, query })) {
    const texts: string[] = [];
    for (const row of logs) {
      const msg = await readWholeMessage(run.id, row);
      const parts = [formatTime(toMs(row.ts_ns)), row.worker, row.level || row.stream, msg, row.fields];
      texts.push(parts.filter((part) => part !== "").join("\t"));
    }
    parts.push(new Blob(texts.map((text) => `${text}\n`)));
    lines += logs.length;
    onLines(lines);
  }
  saveFile(new Blob(parts, { type: "text/plain" }), `${run.name.replace(/[^\w.-]+/g, "_")}.log`);
}

/** A message that a page of lines has only the beginning of, asked for by its line's time. */
export async function readWholeMessage(run: string, row: LogRow, signal?: AbortSignal): Promise<string> {
  if (row.cut_from === undefined) return row.msg;
  const query = { from_ns: row.ts_ns, to_ns: String(BigInt(row.ts_ns) + 1n), limit: 1000, chars: row.cut_from };
  const { logs } = await call("logs", { params: { id: run }, query }, signal);
  return logs.find((each) => each.id === row.id)?.msg ?? row.msg;
}
