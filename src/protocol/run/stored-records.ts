// What `tributary run` sent: lines that the program printed, its start and exit, and samples of the machine.

import { formatJson } from "#base/json/format.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { cellsOf, type RecordRow, type StoredRecord, type StoredRecords, toDouble } from "#protocol/stored-record.ts";
import { exportedOutput, exportedWrapperLine } from "./exported.ts";

export const runRecords: StoredRecords = {
  isBatched: false,
  *toText(record) {
    const [row] = record;
    yield;
    if (row.kind === "output") return { text: [cellsOf(row, "output").msg as string], rebuilt: false };
    if (row.kind === "sample") return { text: [formatSample(record)], rebuilt: true };
    return row.raw === ""
      ? { text: [formatWrapperLine(row, row.cells[0] as string)], rebuilt: true }
      : { text: [row.raw], rebuilt: false };
  },
  *toLine([record], run) {
    const [row] = record;
    const wrapper = parseGroupKey(row.group_key).ownId;
    if (row.kind !== "output") {
      const { text } = yield* runRecords.toText(record);
      return { kind: exportedWrapperLine.kind, head: { run, wrapper }, record: text, form: "json" };
    }
    const { msg, stream, offset, "base64Encode(raw)": raw } = cellsOf(row, "output");
    const head = { run, wrapper, stream, offset, at_ns: row.ts_ns };
    return raw === null || raw === ""
      ? { kind: exportedOutput.kind, head, record: [msg as string], form: "text" }
      : { kind: exportedOutput.kind, head, record: [raw], form: "base64" };
  },
};

function formatSample(record: StoredRecord): string {
  const entries = record.map((row) => {
    const { key, value } = cellsOf(row, "sample");
    return [key ?? "", toDouble(value)] as const;
  });
  return formatWrapperLine(record[0], formatJson(Object.fromEntries(entries), "strict"));
}

function formatWrapperLine({ seq, type, ts_ns }: RecordRow, payload: string): string {
  return `{"n":${seq},"type":${JSON.stringify(type)},"ts_ns":"${ts_ns}","payload":${payload}}`;
}
