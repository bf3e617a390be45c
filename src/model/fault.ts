// A fault is a value: input that could not be understood, kept with its bytes, its reason and its place.
// Every code of the product stands in this one table; docs/errors.md is kept equal to it by a test.
// `blast` says what the fault spoils: one record, the whole message, or the rest of the stream.

export type Blast = "record" | "message" | "stream";

export interface FaultKind {
  readonly blast: Blast;
  /** What happened, as a sentence for the person who sent it. */
  readonly means: string;
  /** What to do about it. */
  readonly hint: string;
}

export const faultKinds = {
  body_too_large: {
    blast: "message",
    means: "The request's body is larger than the limit; only its beginning is kept.",
    hint: "Send less at once, or raise `limits.body`.",
  },
  body_ratio: {
    blast: "message",
    means: "The body grows more when it is decompressed than any real one does.",
    hint: "Send it uncompressed, or raise `limits.ratio`.",
  },
  body_encoding: {
    blast: "message",
    means: "The body is not compressed as its Content-Encoding says.",
    hint: "Compress the whole body once, or leave the header out.",
  },
  body_cut: {
    blast: "message",
    means: "The connection ended before the body did.",
    hint: "The client was stopped, or a proxy between gave up; a client that retries loses nothing.",
  },
  faults_left_out: {
    blast: "record",
    means: "A body has more faults than are kept one by one; this one counts the others.",
    hint: "Look at the faults before it; those that follow are most likely of the same kind.",
  },
  too_many_items: {
    blast: "message",
    means: "A body has more records than one body may have; those after the limit were not read.",
    hint: "Send the records in several bodies.",
  },
  record_set_aside: {
    blast: "message",
    means: "What was accepted could not be applied; all of it is kept aside on the server.",
    hint: "`tributary aside` says why and tries it again, after an upgrade for example.",
  },
  json_syntax: {
    blast: "message",
    means: "The text is not JSON.",
    hint: "Send JSON as the document specifies; the place of the first wrong byte is named.",
  },
  json_too_deep: {
    blast: "message",
    means: "The JSON is nested deeper than the limit.",
    hint: "Flatten the value, or raise `limits.json_depth`.",
  },
  json_too_large: {
    blast: "message",
    means: "The JSON is larger than the limit.",
    hint: "Send smaller messages, or raise the size limit of this route.",
  },
  line_not_json: {
    blast: "record",
    means: "A line of a trace stream is not JSON.",
    hint: "Write one JSON object a line; the column of the first wrong byte is named.",
  },
  line_not_object: {
    blast: "record",
    means: "A line of a trace stream is JSON, but not an object.",
    hint: "Write one JSON object a line.",
  },
  line_too_deep: {
    blast: "record",
    means: "A line of a trace stream is nested deeper than the limit.",
    hint: "Flatten the value, or raise `limits.json_depth`.",
  },
  line_too_long: {
    blast: "record",
    means: "A line of a trace stream is longer than the limit; its head is kept.",
    hint: "Keep large values out of the trace, or raise `limits.line`.",
  },
  line_torn: {
    blast: "record",
    means: "A trace stream ends inside a line.",
    hint: "The writer was stopped while it wrote; send the stream again when it is whole.",
  },
  semantiva_header: {
    blast: "record",
    means: "A trace record has no valid header (`record_type`, `schema_version` 1, `run_id`).",
    hint: "The JSON pointer and the rule are named; `tributary check` shows all of them.",
  },
  semantiva_schema: {
    blast: "record",
    means: "A trace record breaks the schema of its type.",
    hint: "The JSON pointer and the rule are named; `tributary check` shows all of them.",
  },
  cirron_not_batch: {
    blast: "message",
    means: "The JSON is not a Cirron batch.",
    hint: "A batch is an object with `schema_version`, `batch_id` and lists of `spans`, `marks` and `snapshots`.",
  },
  cirron_schema_version: {
    blast: "message",
    means: "The batch has another schema version than 1.",
    hint: "Use an SDK that writes version 1, or update the collector.",
  },
  cirron_otlp: {
    blast: "message",
    means: "The body is an OpenTelemetry (OTLP) export, not a Cirron batch.",
    hint: "Point the OpenTelemetry exporter at the server itself: it posts to `/v1/traces`, which takes both.",
  },
  cirron_record: {
    blast: "record",
    means: "A span, mark or snapshot lacks what identifies it or places it in time.",
    hint: "The field is named; the other records of the batch were taken.",
  },
  otlp_not_export: {
    blast: "message",
    means: "The body is no OTLP request of this route's kind.",
    hint: "Send an ExportTraceServiceRequest, ExportMetricsServiceRequest or ExportLogsServiceRequest to its own path.",
  },
  otlp_record: {
    blast: "record",
    means: "A span, point or log record of an OTLP request is none, or lacks what identifies it or places it in time.",
    hint: "What is wrong is named; the other records of the request were taken.",
  },
  identity_conflict: {
    blast: "record",
    means: "A record with a known identity came with other content; the first is kept.",
    hint: "Two writers share an id, or a client re-uses one.",
  },
  xtrack_bytes_skipped: {
    blast: "stream",
    means: "A part of the stream holds no intact frame; reading went on at the next one.",
    hint: "The sender tore a frame or wrote something else into the stream; events in the range are lost.",
  },
  xtrack_frame_torn: {
    blast: "message",
    means: "The stream ended inside a frame.",
    hint: "The connection dropped or the writer was killed while it sent this event.",
  },
  xtrack_frame_too_large: {
    blast: "message",
    means: "A frame is larger than the limit and was skipped.",
    hint: "Send smaller events, or raise `limits.frame`.",
  },
  xtrack_events_lost: {
    blast: "record",
    means: "Events came while there was no room for them and were not kept; which ones is named.",
    hint: "Raise `journal.budget` or `memory.budget`, or let the worker ask for acks: then it is made to wait instead.",
  },
  xtrack_version: {
    blast: "message",
    means: "The event has another protocol version than 1.",
    hint: "Send version 1, or update the collector.",
  },
  xtrack_missing_field: {
    blast: "message",
    means: "The event lacks a required field, which is named.",
    hint: "Send every field the document marks as required.",
  },
  xtrack_invalid_field: {
    blast: "message",
    means: "A field of the event, which is named, has a value the document does not allow.",
    hint: "Send the type the document gives for this field.",
  },
  batch_id_reused: {
    blast: "record",
    means: "A batch came with an id that is known with other content.",
    hint: "Give every batch an id of its own; the new rows were taken.",
  },
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof faultKinds;

/** Where in its input a fault lies; every part that is known is given. */
export interface FaultPlace {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** Byte offset in the stream, file or body. */
  readonly offset?: number;
  /** JSON pointer inside the record. */
  readonly pointer?: string;
}

export interface Fault {
  readonly code: FaultCode;
  readonly detail: string;
  readonly place: FaultPlace;
  /** The bytes that could not be understood; the fault owns this copy. */
  readonly raw: Uint8Array;
}

export function blastOf(code: FaultCode): Blast {
  return faultKinds[code].blast;
}
