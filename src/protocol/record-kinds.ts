// The kinds of records of all protocols. Columns are named once, in the protocol's folder; rows carry their cells in
// that order.

import { cirronRecordKinds } from "./cirron/record-kinds.ts";
import { otlpRecordKinds } from "./otlp/record-kinds.ts";
import type { RecordSource } from "./record-source.ts";
import { runRecordKinds } from "./run/record-kinds.ts";
import { semantivaRecordKinds } from "./semantiva/record-kinds.ts";
import { xtrackRecordKinds } from "./xtrack/record-kinds.ts";

export const recordKinds = {
  ...cirronRecordKinds,
  ...xtrackRecordKinds,
  ...runRecordKinds,
  ...semantivaRecordKinds,
  ...otlpRecordKinds,
  /** Events of any protocol, whose payload is kept as it came. */
  event: {
    worker: "worker",
    seq: "seq",
    ts: "ts_ns",
    table: "events",
    protocol: "protocol",
    type: "type",
    columns: ["payload"],
    search: ["payload", "raw"],
  },
} as const satisfies Record<string, RecordSource>;

export type RecordKind = keyof typeof recordKinds;
