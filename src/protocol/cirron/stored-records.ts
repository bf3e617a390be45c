// Rows of spans, marks and snapshots → the members of a batch, and the batch again.

import { TextGatherer, type Texts } from "#base/json/texts.ts";
import type { ExportedKind } from "#protocol/exported.ts";
import {
  cellsOf,
  type RecordRow,
  type StoredRecord,
  type StoredRecords,
  textCells,
  toDouble,
} from "#protocol/stored-record.ts";
import { formatRecord } from "#wire/cirron/rebuild.ts";

export const cirronRecords: StoredRecords = {
  isBatched: true,
  *toText([row]) {
    return row.raw === "" ? { text: yield* rebuild(row), rebuilt: true } : { text: [row.raw], rebuilt: false };
  },
  *toLine(records, runId, batch) {
    const { batchId = "", sdkVersion = "", createdNs = "0", extra = "", source = "", isNamed = false } = batch ?? {};
    const record = new TextGatherer();
    record.add(`{"schema_version":1,"sdk_version":${JSON.stringify(sdkVersion)},"batch_id":${JSON.stringify(batchId)}`);
    record.add(`,"created_ns":${createdNs}`);
    if (extra !== "" && extra !== "{}") record.add(`,${extra.slice(1, -1)}`);
    yield* addList(record, "spans", records, "span");
    yield* addList(record, "marks", records, "mark");
    yield* addList(record, "snapshots", records, "snapshot");
    record.add("}");
    return {
      kind: exportedBatch.kind,
      head: { ...(isNamed ? { run: runId } : {}), source },
      record: record.finish(),
      form: records.every(([row]) => row.raw === "") ? "json" : "text",
    };
  },
};

/** How many records are added between two pauses. */
const addedAtOnce = 256;

function* addList(
  into: TextGatherer,
  name: string,
  records: readonly StoredRecord[],
  kind: RecordRow["kind"],
): Generator<void, void> {
  into.add(`,"${name}":[`);
  let count = 0;
  for (const record of records) {
    if (record[0].kind !== kind) continue;
    if (count++ > 0) into.add(",");
    into.add((yield* cirronRecords.toText(record)).text);
    if (count % addedAtOnce === 0) yield;
  }
  into.add("]");
}

function rebuild(row: RecordRow): Generator<void, Texts> {
  const tail = { flags: row.flags, extra: row.extra, raw: row.raw };
  if (row.kind === "span") return formatRecord("span", { ...textCells(cellsOf(row, "span")), ...tail });
  if (row.kind === "mark") {
    const cells = cellsOf(row, "mark");
    const value_float = toDouble(cells.value_float);
    const value_bool = cells.value_bool === null ? null : Number(cells.value_bool);
    return formatRecord("mark", { ...textCells(cells), ...tail, value_float, value_bool });
  }
  return formatRecord("snapshot", { ...textCells(cellsOf(row, "snapshot")), ...tail });
}

/** A batch, rebuilt from its rows. The prefix keeps its source apart from all folders. */
export const exportedBatch: ExportedKind = {
  kind: "cirron",
  joinBy: () => null,
  toBytes: (_, record) => [record],
  toShipment: ({ source }) => ({ route: "cirron", source: `export:${source}` }),
};
