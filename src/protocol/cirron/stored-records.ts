// Rows of spans, marks and snapshots → the members of a batch, and the batch again.

import {
  cellsOf,
  type RecordRow,
  type StoredRecord,
  type StoredRecords,
  textCells,
  toDouble,
} from "#protocol/stored-record.ts";
import { formatMark, formatSnapshot, formatSpan } from "#wire/cirron/rebuild.ts";
import { exportedBatch } from "./exported.ts";

export const cirronRecords: StoredRecords = {
  isBatched: true,
  *toText([row]) {
    return row.raw === "" ? { text: yield* rebuild(row), rebuilt: true } : { text: row.raw, rebuilt: false };
  },
  *toLine(records, runId, batch) {
    const { batchId = "", sdkVersion = "", createdNs = "0", extra = "", source = "", isNamed = false } = batch ?? {};
    const members = [
      `"schema_version":1,"sdk_version":${JSON.stringify(sdkVersion)},"batch_id":${JSON.stringify(batchId)}`,
      `"created_ns":${createdNs}`,
      ...(extra === "" || extra === "{}" ? [] : [extra.slice(1, -1)]),
      `"spans":[${yield* textsOf(records, "span")}],"marks":[${yield* textsOf(records, "mark")}]`,
      `"snapshots":[${yield* textsOf(records, "snapshot")}]`,
    ];
    return {
      kind: exportedBatch.kind,
      head: { ...(isNamed ? { run: runId } : {}), source },
      record: `{${members.join(",")}}`,
      isExact: records.every(([row]) => row.raw === ""),
    };
  },
};

/** Batches of a million records are put together in steps. */
const joinedAtOnce = 256;

function* textsOf(records: readonly StoredRecord[], kind: RecordRow["kind"]): Generator<void, string> {
  const joined: string[] = [];
  let some: string[] = [];
  for (const record of records) {
    if (record[0].kind !== kind) continue;
    some.push((yield* cirronRecords.toText(record)).text);
    if (some.length < joinedAtOnce) continue;
    joined.push(some.join(","));
    some = [];
    yield;
  }
  return (some.length === 0 ? joined : [...joined, some.join(",")]).join(",");
}

function rebuild(row: RecordRow): Generator<void, string> {
  const tail = { flags: row.flags, extra: row.extra, raw: row.raw };
  if (row.kind === "span") {
    const cells = cellsOf(row, "span");
    return formatSpan({ ...textCells(cells), ...tail, rank: Number(cells.rank) }, "lossless");
  }
  if (row.kind === "mark") {
    const cells = cellsOf(row, "mark");
    const value_float = toDouble(cells.value_float);
    const value_bool = cells.value_bool === null ? null : Number(cells.value_bool);
    return formatMark({ ...textCells(cells), ...tail, value_float, value_bool }, "lossless");
  }
  return formatSnapshot({ ...textCells(cellsOf(row, "snapshot")), ...tail }, "lossless");
}
