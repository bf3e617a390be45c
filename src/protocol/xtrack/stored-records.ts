// Rows of metrics, params, logs and other events → the payload of a frame.

import { hasWord, type Texts } from "#base/json/texts.ts";
import { parseGroupKey } from "#model/group-key.ts";
import type { ExportedKind } from "#protocol/exported.ts";
import {
  cellsOf,
  type RecordRow,
  type StoredRecord,
  type StoredRecords,
  textCells,
  toDouble,
} from "#protocol/stored-record.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";
import { rebuildLog, rebuildMetrics, rebuildOther, rebuildParam, type StoredMetric } from "#wire/xtrack/rebuild.ts";

export const xtrackRecords: StoredRecords = {
  isBatched: false,
  *toText(record) {
    const [{ raw }] = record;
    return raw === "" ? { text: yield* rebuild(record), rebuilt: true } : { text: [raw], rebuilt: false };
  },
  *toLine([record], runId) {
    const [row] = record;
    const { ownId } = parseGroupKey(row.group_key);
    const { text } = yield* xtrackRecords.toText(record);
    yield;
    const isExact = row.raw === "";
    // An event that does not name its run, or names it oddly, belongs to the last run_start of its stream.
    const stream = isExact && (yield* hasWord(text, JSON.stringify(ownId))) ? {} : { stream_run: ownId };
    const head = { ...(ownId === runId ? {} : { run: runId }), ...stream };
    return { kind: exportedEvent.kind, head, record: text, form: isExact ? "json" : "text" };
  },
};

function rebuild(record: StoredRecord): Generator<void, Texts> {
  const [row] = record;
  switch (row.kind) {
    case "param":
      return rebuildParam({ ...storedOf(row), ...textCells(cellsOf(row, "param")) });
    case "log": {
      const cells = cellsOf(row, "log");
      return rebuildLog({ ...storedOf(row), ...textCells(cells), step: cells.step });
    }
    case "metric":
      return rebuildMetrics(record.map(toStoredMetric) as [StoredMetric, ...StoredMetric[]]);
    default:
      return rebuildOther({ ...storedOf(row), payload: row.cells[0] as string });
  }
}

function toStoredMetric(row: RecordRow): StoredMetric {
  const cells = cellsOf(row, "metric");
  const { step, epoch } = cells;
  return { ...storedOf(row), ...textCells(cells), step, epoch, value: toDouble(cells.value) };
}

function storedOf({ type, worker, extra, raw, group_key, seq, ts_ns }: RecordRow) {
  const run = parseGroupKey(group_key).ownId;
  return { type, run, worker, seq: BigInt(seq ?? 0), tsNs: BigInt(ts_ns), extra, raw };
}

/** An event. If it does not name its run, it belongs to the last `run_start` of its stream, which the line names. */
export const exportedEvent: ExportedKind = {
  kind: "xtrack",
  joinBy: ({ run = "", stream_run = "" }) => `${run}\n${stream_run}`,
  toBytes: (_, record) => [encodePayload(record)],
  toShipment({ stream_run }) {
    const current = stream_run === undefined ? {} : { current_run: stream_run };
    return { route: "xtrack", query: { offset: 0, ...current } };
  },
};
