// Trace lines are their own payload.

import { groupKinds, parseGroupKey } from "#model/group-key.ts";
import { asLine, type ExportedKind } from "#protocol/exported.ts";
import type { RecordRow, StoredRecords } from "#protocol/stored-record.ts";

export const semantivaRecords: StoredRecords = {
  isBatched: false,
  *toText([row]) {
    yield;
    return { text: [textOf(row)], rebuilt: false };
  },
  *toLine([[row]], runId) {
    yield;
    const { ownId, kind } = parseGroupKey(row.group_key);
    // A launch belongs to no run.
    const isOwn = ownId === runId || kind === groupKinds.semantivaLaunch;
    return {
      kind: exportedTraceLine.kind,
      head: isOwn ? {} : { run: runId },
      record: [textOf(row)],
      form: row.raw === "" ? "json" : "text",
    };
  },
};

function textOf(row: RecordRow): string {
  return row.raw === "" ? (row.cells[0] as string) : row.raw;
}

export const exportedTraceLine: ExportedKind = {
  kind: "semantiva",
  joinBy: ({ run = "" }) => run,
  toBytes: asLine,
  toShipment: (_, line) => ({ route: "semantiva", query: { line, offset: 0 } }),
};
