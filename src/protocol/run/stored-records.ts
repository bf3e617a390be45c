// What `tributary run` sent: lines that the program printed, its start and exit, and samples of the machine.

import { formatJson } from "#base/json/format.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { asLine, type ExportedKind } from "#protocol/exported.ts";
import { cellsOf, type RecordRow, type StoredRecord, type StoredRecords, toDouble } from "#protocol/stored-record.ts";

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

export const exportedWrapperLine: ExportedKind = {
  kind: "wrapper",
  joinBy: ({ run = "", wrapper = "" }) => `${run}\n${wrapper}`,
  toBytes: asLine,
  toShipment: ({ wrapper = "" }) => ({ route: "wrapper", source: null, query: { wrapper } }),
};

/** A line of captured output. */
export const exportedOutput: ExportedKind = {
  kind: "log",
  joinBy: ({ run, wrapper, stream, at_ns }) => `${run}\n${wrapper}\n${stream}\n${at_ns}`,
  // A line that does not follow directly after the ones before it (CR LF, another chunk) gets its own request.
  follows: (first, bytes, next) => Number(first.offset) + bytes === Number(next.offset),
  toBytes: (head) =>
    asLine(head, head.base64 === undefined ? Buffer.from(head.text ?? "") : Buffer.from(head.base64, "base64")),
  toShipment({ wrapper = "", stream = "stdout", offset, at_ns }) {
    const when = at_ns === undefined ? {} : { at_ns };
    return { route: "output", source: null, query: { wrapper, stream, offset: Number(offset), ...when } };
  },
};
