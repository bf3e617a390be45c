// OTLP's own words for rows of `spans`, `logs` and `events`, as views for people's SQL.

import { modelCallAttributes } from "#model/otel-attributes.ts";

type Column = FactView["columns"][number];

/** Texts that intake itself wrote are always JSON that the engine reads. */
const text = (name: string, column: string, ...path: readonly string[]): Column => [
  name,
  `JSONExtractString(${column}${toPath(path)})`,
];
const raw = (name: string, column: string, ...path: readonly string[]): Column => [
  name,
  `JSONExtractRaw(${column}${toPath(path)})`,
];
const int = (name: string, column: string, ...path: readonly string[]): Column => [
  name,
  `JSONExtractInt(${column}${toPath(path)})`,
];

function toPath(path: readonly string[]): string {
  return path.map((key) => `, '${key}'`).join("");
}

/** The first attribute that is there: conventions change their names. */
const firstText = (name: string, ...attributes: readonly string[]): Column => [
  name,
  `coalesce(${attributes.map((key) => `nullIf(JSONExtractString(f.attrs, '${key}'), '')`).join(", ")}, '')`,
];
const firstInt = (name: string, ...attributes: readonly string[]): Column => [
  name,
  `coalesce(${attributes.map((key) => `JSONExtract(f.attrs, '${key}', 'Nullable(Int64)')`).join(", ")})`,
];

const origin: readonly Column[] = [
  text("service", "f.origin", "resource", "service.name"),
  raw("resource", "f.origin", "resource"),
];

export const otlpViews: Readonly<Record<string, FactView>> = {
  otel_spans: {
    table: "spans",
    where: "f.origin != ''",
    columns: [
      text("trace_id", "f.extra", "trace_id"),
      ..."span_id parent_id name start_ns end_ns".split(" "),
      ["step", "f.index"],
      int("kind", "f.extra", "kind"),
      int("status_code", "f.extra", "status", "code"),
      text("status_message", "f.extra", "status", "message"),
      ["attributes", "f.attrs"],
      raw("events", "f.extra", "events"),
      raw("links", "f.extra", "links"),
      firstText("model", ...modelCallAttributes.model),
      firstText("operation", ...modelCallAttributes.operation),
      firstText("provider", ...modelCallAttributes.provider),
      firstInt("input_tokens", ...modelCallAttributes.input_tokens),
      firstInt("output_tokens", ...modelCallAttributes.output_tokens),
      "rank",
      text("scope", "f.origin", "scope", "name"),
      ...origin,
      "received_ns",
    ],
  },
  otel_logs: {
    table: "logs",
    where: "f.origin != ''",
    columns: [
      "ts_ns",
      ["observed_ns", "toInt64OrZero(JSONExtractString(f.extra, 'observed_ns'))"],
      int("severity_number", "f.extra", "severity_number"),
      text("severity_text", "f.extra", "severity_text"),
      "level",
      ["body", "f.msg"],
      ["attributes", "f.fields"],
      text("event_name", "f.extra", "event_name"),
      text("trace_id", "f.extra", "trace_id"),
      text("span_id", "f.extra", "span_id"),
      "step",
      "worker",
      ["scope", "f.logger"],
      ...origin,
      "received_ns",
    ],
  },
  otel_points: {
    table: "events",
    where: "f.protocol = 'otlp'",
    columns: [
      text("name", "f.payload", "name"),
      ["kind", "f.type"],
      "ts_ns",
      text("unit", "f.payload", "unit"),
      text("description", "f.payload", "description"),
      int("temporality", "f.payload", "temporality"),
      int("monotonic", "f.payload", "monotonic"),
      raw("attributes", "f.payload", "attributes"),
      raw("point", "f.payload", "point"),
      "worker",
      text("scope", "f.payload", "origin", "scope", "name"),
      text("service", "f.payload", "origin", "resource", "service.name"),
      raw("resource", "f.payload", "origin", "resource"),
      "received_ns",
    ],
  },
};

/** Fact views: table, filter of its rows, and the columns people see after `run_id` (an expression where it differs). */
export interface FactView {
  readonly table: string;
  readonly where?: string;
  readonly columns: readonly (string | readonly [name: string, sql: string])[];
}
