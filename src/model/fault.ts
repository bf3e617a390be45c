// A fault is a value: input that could not be understood, kept with its bytes, its reason and its place.
// This table has every code of the product; a test keeps docs/errors.md equal to it.
// `blast` says what the fault spoils: one record, the whole message, or the rest of the stream.

import type { JsonFault } from "#base/json/value.ts";

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
    means: "The request body is larger than the limit; only its beginning is kept.",
    hint: "Send smaller bodies, or raise `limits.body`.",
  },
  body_ratio: {
    blast: "message",
    means: "The body's compression ratio is higher than that of any real body.",
    hint: "Send it uncompressed, or raise `limits.ratio`.",
  },
  body_encoding: {
    blast: "message",
    means: "The body is not compressed the way its Content-Encoding says.",
    hint: "Compress the whole body once, or leave the header out.",
  },
  body_cut: {
    blast: "message",
    means: "The connection ended before the body did.",
    hint: "The client was stopped, or a proxy in between gave up; a client that retries loses nothing.",
  },
  faults_left_out: {
    blast: "record",
    means: "A body has more faults than are kept one by one; this fault counts the rest.",
    hint: "Look at the faults before it; the rest are most likely of the same kind.",
  },
  too_many_items: {
    blast: "message",
    means: "A body has more records than the limit; those beyond it were not read.",
    hint: "Send the records in several bodies.",
  },
  record_set_aside: {
    blast: "message",
    means: "An accepted record could not be applied; the server has set it aside with all its bytes.",
    hint: "`tributary aside` says why, and tries it again, for example after an upgrade.",
  },
  json_syntax: {
    blast: "message",
    means: "The text is not JSON.",
    hint: "Send JSON as the protocol specifies; the fault gives the place of the first wrong byte.",
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
    hint: "Write one JSON object per line; the fault gives the column of the first wrong byte.",
  },
  line_not_object: {
    blast: "record",
    means: "A line of a trace stream is JSON, but not an object.",
    hint: "Write one JSON object per line.",
  },
  line_too_deep: {
    blast: "record",
    means: "A line of a trace stream is nested deeper than the limit.",
    hint: "Flatten the value, or raise `limits.json_depth`.",
  },
  line_too_long: {
    blast: "record",
    means: "A line of a trace stream is longer than the limit; its beginning is kept.",
    hint: "Keep large values out of the trace, or raise `limits.line`.",
  },
  line_torn: {
    blast: "record",
    means: "A trace stream ends inside a line.",
    hint: "The writer was stopped in the middle of a line; send the stream again when it is complete.",
  },
  semantiva_header: {
    blast: "record",
    means: "A trace record has no valid header (`record_type`, `schema_version` 1, `run_id`).",
    hint: "The fault names the JSON pointer and the rule; `tributary check` lists all violations.",
  },
  semantiva_schema: {
    blast: "record",
    means: "A trace record violates the schema of its type.",
    hint: "The fault names the JSON pointer and the rule; `tributary check` lists all violations.",
  },
  cirron_not_batch: {
    blast: "message",
    means: "The JSON is not a Cirron batch.",
    hint: "A batch is an object with `schema_version`, `batch_id` and lists of `spans`, `marks` and `snapshots`.",
  },
  cirron_schema_version: {
    blast: "message",
    means: "The batch has a schema version other than 1.",
    hint: "Use an SDK that writes version 1, or update the collector.",
  },
  cirron_otlp: {
    blast: "message",
    means: "The body is an OpenTelemetry (OTLP) export, not a Cirron batch.",
    hint: "Use the server itself as the OpenTelemetry endpoint: exporters post to `/v1/traces`, which takes both.",
  },
  cirron_record: {
    blast: "record",
    means: "A span, mark or snapshot lacks an id or a time.",
    hint: "The fault names the field; the other records of the batch were taken.",
  },
  otlp_not_export: {
    blast: "message",
    means: "The body is not an OTLP request of this route's kind.",
    hint: "Send an ExportTraceServiceRequest, ExportMetricsServiceRequest or ExportLogsServiceRequest to its own path.",
  },
  otlp_record: {
    blast: "record",
    means: "A span, point or log record of an OTLP request cannot be read, or lacks an id or a time.",
    hint: "The fault says what is wrong; the other records of the request were taken.",
  },
  identity_conflict: {
    blast: "record",
    means: "A record with a known identity arrived with different content; the first is kept.",
    hint: "Two writers share an id, or a client reuses one.",
  },
  xtrack_bytes_skipped: {
    blast: "stream",
    means: "Part of the stream holds no intact frame; reading resumed at the next one.",
    hint: "The sender cut a frame short or wrote something else into the stream; the events in this range are lost.",
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
    means: "Events arrived while there was no room and were not kept; the fault names them.",
    hint: "Raise `journal.budget` or `memory.budget`, or let the worker ask for acks: then it waits instead.",
  },
  xtrack_version: {
    blast: "message",
    means: "The event has a protocol version other than 1.",
    hint: "Send version 1, or update the collector.",
  },
  xtrack_missing_field: {
    blast: "message",
    means: "The event lacks a required field, which the fault names.",
    hint: "Send every field that the protocol requires.",
  },
  xtrack_invalid_field: {
    blast: "message",
    means: "A field of the event, which the fault names, has a value that the protocol does not allow.",
    hint: "Send the type that the protocol gives for this field.",
  },
  batch_id_reused: {
    blast: "record",
    means: "A batch arrived under the id of another batch with different content.",
    hint: "Give every batch its own id; the new rows were taken.",
  },
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof faultKinds;

/** Where in its input a fault is; every known part is given. */
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

/** Fault codes for text that is not JSON, or is beyond the limits. */
export const jsonFaultCodes = {
  syntax: "json_syntax",
  depth: "json_too_deep",
  size: "json_too_large",
} as const satisfies Record<JsonFault["kind"], FaultCode>;

export function blastOf(code: FaultCode): Blast {
  return faultKinds[code].blast;
}
