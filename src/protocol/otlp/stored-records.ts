// Rows of spans, logs and points → the records that came, and the requests that carried them.

import { membersOf } from "#base/json/members.ts";
import { cellsOf, type OtlpMessage, type RecordRow, type StoredRecords, textCells } from "#protocol/stored-record.ts";
import { formatMessage } from "#wire/otlp/json-message.ts";
import { encodeMessage } from "#wire/otlp/message.ts";
import { encodeOrigin } from "#wire/otlp/origin.ts";
import { rebuildLog, rebuildMetric, rebuildSpan } from "#wire/otlp/rebuild.ts";
import { toRequestJson } from "#wire/otlp/request-json.ts";
import { RequestBuilder } from "#wire/otlp/request-pieces.ts";
import { signals } from "#wire/otlp/schema.ts";
import { exportedKindOf } from "./exported.ts";

export const otlpRecords: StoredRecords = {
  isBatched: true,
  toOtlp: rebuild,
  *toText([row]) {
    const { signal, message } = rebuild(row);
    yield;
    return { text: formatMessage(signals[signal].record, message), rebuilt: true };
  },
  *toLine(records, run) {
    const builder = new RequestBuilder();
    const [[first]] = records;
    const { signal } = rebuild(first);
    yield;
    for (const record of records) {
      const { message, origin } = rebuild(record[0]);
      yield;
      builder.add(encodeOrigin(origin), encodeMessage(signals[signal].record, message));
      yield;
    }
    const request = builder.finish();
    yield;
    const text = toRequestJson(signal, request);
    const head = text === null ? { run, base64: Buffer.from(request).toString("base64") } : { run };
    return { kind: exportedKindOf(signal), head, record: text, isExact: true };
  },
};

function rebuild(row: RecordRow): OtlpMessage {
  const { extra, raw, ts_ns } = row;
  switch (row.kind) {
    case "otlpSpan": {
      const { origin, parent_id, ...cells } = cellsOf(row, "otlpSpan");
      const message = rebuildSpan({ ...textCells(cells), parent_id, extra, raw });
      return { signal: "traces", message, origin: origin ?? "" };
    }
    case "otlpLog": {
      const { msg, fields, origin } = textCells(cellsOf(row, "otlpLog"));
      return { signal: "logs", message: rebuildLog({ ts_ns, msg, fields, extra, raw }), origin };
    }
    default: {
      const [payload] = row.cells as readonly [string];
      const origin = membersOf(payload).get("origin") ?? "{}";
      return { signal: "metrics", message: rebuildMetric(payload, raw), origin };
    }
  }
}
