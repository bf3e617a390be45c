// Rows of spans, logs and points → the records as they came, and requests with them.

import { membersOf } from "#base/json/members.ts";
import type { ExportedKind } from "#protocol/exported.ts";
import { cellsOf, type OtlpMessage, type RecordRow, type StoredRecords, textCells } from "#protocol/stored-record.ts";
import { encodeMessage } from "#wire/otlp/message.ts";
import { formatMessage } from "#wire/otlp/message-text.ts";
import { encodeOrigin } from "#wire/otlp/origin.ts";
import { inexactBytes, rebuildLog, rebuildMetric, rebuildSpan } from "#wire/otlp/rebuild.ts";
import { formatRequest, type PlacedMessage } from "#wire/otlp/request-json.ts";
import { RequestBuilder } from "#wire/otlp/request-pieces.ts";
import { type Signal, signals } from "#wire/otlp/schema.ts";
import { routeOf } from "./files.ts";

export const otlpRecords: StoredRecords = {
  isBatched: true,
  toOtlp: rebuild,
  *toText([row]) {
    const { signal, message } = yield* rebuild(row);
    yield;
    return { text: (yield* formatMessage(signals[signal].record, message)).text, rebuilt: true };
  },
  *toLine(records, run) {
    // They came in one request.
    const signal = signalOf(records[0][0]);
    const placed: PlacedMessage[] = [];
    for (const [row] of records) {
      yield;
      const { message, bytes, origin } = yield* rebuild(row);
      placed.push({ message, bytes, origin: encodeOrigin(origin) });
    }
    const text = yield* formatRequest(signal, placed);
    const kind = exportedKindOf(signal);
    if (text !== null) return { kind, head: { run }, record: text, form: "json" };
    return { kind, head: { run }, record: [yield* encodeRequest(signal, placed)], form: "base64" };
  },
};

/** In base64. */
function* encodeRequest(signal: Signal, placed: readonly PlacedMessage[]): Generator<void, string> {
  const builder = new RequestBuilder();
  for (const { origin, message, bytes } of placed) {
    yield;
    builder.add(origin, bytes ?? encodeMessage(signals[signal].record, message));
  }
  yield;
  const request = builder.finish();
  yield;
  return Buffer.from(request).toString("base64");
}

function signalOf({ kind }: RecordRow): Signal {
  return kind === "otlpSpan" ? "traces" : kind === "otlpLog" ? "logs" : "metrics";
}

function* rebuild(row: RecordRow): Generator<void, OtlpMessage> {
  const { extra, raw, ts_ns } = row;
  const signal = signalOf(row);
  const bytes = inexactBytes(signals[signal].record, raw);
  switch (row.kind) {
    case "otlpSpan": {
      const { origin, parent_id, ...cells } = cellsOf(row, "otlpSpan");
      const message = yield* rebuildSpan({ ...textCells(cells), parent_id, extra, raw });
      return { signal, message, bytes, origin: origin ?? "" };
    }
    case "otlpLog": {
      const { msg, fields, origin } = textCells(cellsOf(row, "otlpLog"));
      return { signal, message: yield* rebuildLog({ ts_ns, msg, fields, extra, raw }), bytes, origin };
    }
    default: {
      const [payload] = row.cells as readonly [string];
      const origin = membersOf(payload).get("origin") ?? "{}";
      return { signal, message: yield* rebuildMetric(payload, raw), bytes, origin };
    }
  }
}

function exportedKindOf(signal: Signal): `otlp_${Signal}` {
  return `otlp_${signal}`;
}

/** A request, rebuilt from its rows: JSON, or protobuf in base64 if JSON cannot express it. */
export const exportedRequests: readonly ExportedKind[] = (["traces", "metrics", "logs"] as const).map((signal) => ({
  kind: exportedKindOf(signal),
  joinBy: () => null,
  toBytes: ({ base64 }, record) => [base64 === undefined ? record : Buffer.from(base64, "base64")],
  toShipment: () => ({ route: routeOf[signal] }),
}));
