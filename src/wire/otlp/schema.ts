// The messages of OTLP 1.11 that are sent to a collector: the number, name and type of every field. The names are
// those of its JSON form. Everything that reads or writes whole messages goes by this table; only spans, of which there
// are most, have a reader of their own.

/** How a field is written. `id` is bytes that JSON has in hex, all other bytes are base64 there. */
export type ScalarType =
  | "string"
  | "bytes"
  | "id"
  | "bool"
  | "double"
  | "uint32"
  | "enum"
  | "sint32"
  | "int64"
  | "uint64"
  | "fixed32"
  | "fixed64"
  | "sfixed64";

export interface Field {
  readonly number: number;
  readonly name: string;
  readonly type: ScalarType | { readonly message: () => MessageType };
  readonly isList: boolean;
}

export interface MessageType {
  readonly name: string;
  readonly byNumber: ReadonlyMap<number, Field>;
  readonly byName: ReadonlyMap<string, Field>;
  /** Fields of which only the last one counts. */
  readonly choices: ReadonlySet<string>;
  /** Fields that are written even when they have the value that stands for none: those above among them. */
  readonly explicit: ReadonlySet<string>;
}

type FieldSpec = readonly [number: number, name: string, type: ScalarType | (() => MessageType), isList?: "list"];

function message(
  name: string,
  specs: readonly FieldSpec[],
  choices: readonly string[] = [],
  optional: readonly string[] = [],
): MessageType {
  const fields = specs.map(
    ([number, fieldName, type, isList]): Field => ({
      number,
      name: fieldName,
      type: typeof type === "string" ? type : { message: type },
      isList: isList !== undefined,
    }),
  );
  return {
    name,
    byNumber: new Map(fields.map((field) => [field.number, field])),
    byName: new Map(fields.map((field) => [field.name, field])),
    choices: new Set(choices),
    explicit: new Set([...choices, ...optional]),
  };
}

export const anyValue: MessageType = message(
  "AnyValue",
  [
    [1, "stringValue", "string"],
    [2, "boolValue", "bool"],
    [3, "intValue", "int64"],
    [4, "doubleValue", "double"],
    [5, "arrayValue", () => arrayValue],
    [6, "kvlistValue", () => keyValueList],
    [7, "bytesValue", "bytes"],
  ],
  ["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"],
);
const arrayValue = message("ArrayValue", [[1, "values", () => anyValue, "list"]]);
const keyValueList = message("KeyValueList", [[1, "values", () => keyValue, "list"]]);
const keyValue = message("KeyValue", [
  [1, "key", "string"],
  [2, "value", () => anyValue],
]);
const entityRef = message("EntityRef", [
  [1, "schemaUrl", "string"],
  [2, "type", "string"],
  [3, "idKeys", "string", "list"],
  [4, "descriptionKeys", "string", "list"],
]);

export const resource: MessageType = message("Resource", [
  [1, "attributes", () => keyValue, "list"],
  [2, "droppedAttributesCount", "uint32"],
  [3, "entityRefs", () => entityRef, "list"],
]);
export const scope: MessageType = message("InstrumentationScope", [
  [1, "name", "string"],
  [2, "version", "string"],
  [3, "attributes", () => keyValue, "list"],
  [4, "droppedAttributesCount", "uint32"],
]);

const spanEvent = message("Event", [
  [1, "timeUnixNano", "fixed64"],
  [2, "name", "string"],
  [3, "attributes", () => keyValue, "list"],
  [4, "droppedAttributesCount", "uint32"],
]);
const spanLink = message("Link", [
  [1, "traceId", "id"],
  [2, "spanId", "id"],
  [3, "traceState", "string"],
  [4, "attributes", () => keyValue, "list"],
  [5, "droppedAttributesCount", "uint32"],
  [6, "flags", "fixed32"],
]);
const status = message("Status", [
  [2, "message", "string"],
  [3, "code", "enum"],
]);
export const span: MessageType = message("Span", [
  [1, "traceId", "id"],
  [2, "spanId", "id"],
  [3, "traceState", "string"],
  [4, "parentSpanId", "id"],
  [5, "name", "string"],
  [6, "kind", "enum"],
  [7, "startTimeUnixNano", "fixed64"],
  [8, "endTimeUnixNano", "fixed64"],
  [9, "attributes", () => keyValue, "list"],
  [10, "droppedAttributesCount", "uint32"],
  [11, "events", () => spanEvent, "list"],
  [12, "droppedEventsCount", "uint32"],
  [13, "links", () => spanLink, "list"],
  [14, "droppedLinksCount", "uint32"],
  [15, "status", () => status],
  [16, "flags", "fixed32"],
]);

const exemplar = message(
  "Exemplar",
  [
    [7, "filteredAttributes", () => keyValue, "list"],
    [2, "timeUnixNano", "fixed64"],
    [3, "asDouble", "double"],
    [6, "asInt", "sfixed64"],
    [4, "spanId", "id"],
    [5, "traceId", "id"],
  ],
  ["asDouble", "asInt"],
);
const numberPoint = message(
  "NumberDataPoint",
  [
    [7, "attributes", () => keyValue, "list"],
    [2, "startTimeUnixNano", "fixed64"],
    [3, "timeUnixNano", "fixed64"],
    [4, "asDouble", "double"],
    [6, "asInt", "sfixed64"],
    [5, "exemplars", () => exemplar, "list"],
    [8, "flags", "uint32"],
  ],
  ["asDouble", "asInt"],
);
const histogramPoint = message(
  "HistogramDataPoint",
  [
    [9, "attributes", () => keyValue, "list"],
    [2, "startTimeUnixNano", "fixed64"],
    [3, "timeUnixNano", "fixed64"],
    [4, "count", "fixed64"],
    [5, "sum", "double"],
    [6, "bucketCounts", "fixed64", "list"],
    [7, "explicitBounds", "double", "list"],
    [8, "exemplars", () => exemplar, "list"],
    [10, "flags", "uint32"],
    [11, "min", "double"],
    [12, "max", "double"],
  ],
  [],
  ["sum", "min", "max"],
);
const buckets = message("Buckets", [
  [1, "offset", "sint32"],
  [2, "bucketCounts", "uint64", "list"],
]);
const exponentialPoint = message(
  "ExponentialHistogramDataPoint",
  [
    [1, "attributes", () => keyValue, "list"],
    [2, "startTimeUnixNano", "fixed64"],
    [3, "timeUnixNano", "fixed64"],
    [4, "count", "fixed64"],
    [5, "sum", "double"],
    [6, "scale", "sint32"],
    [7, "zeroCount", "fixed64"],
    [8, "positive", () => buckets],
    [9, "negative", () => buckets],
    [10, "flags", "uint32"],
    [11, "exemplars", () => exemplar, "list"],
    [12, "min", "double"],
    [13, "max", "double"],
    [14, "zeroThreshold", "double"],
  ],
  [],
  ["sum", "min", "max"],
);
const quantile = message("ValueAtQuantile", [
  [1, "quantile", "double"],
  [2, "value", "double"],
]);
const summaryPoint = message("SummaryDataPoint", [
  [7, "attributes", () => keyValue, "list"],
  [2, "startTimeUnixNano", "fixed64"],
  [3, "timeUnixNano", "fixed64"],
  [4, "count", "fixed64"],
  [5, "sum", "double"],
  [6, "quantileValues", () => quantile, "list"],
  [8, "flags", "uint32"],
]);

const temporality: FieldSpec = [2, "aggregationTemporality", "enum"];
const gauge = message("Gauge", [[1, "dataPoints", () => numberPoint, "list"]]);
const sum = message("Sum", [[1, "dataPoints", () => numberPoint, "list"], temporality, [3, "isMonotonic", "bool"]]);
const histogram = message("Histogram", [[1, "dataPoints", () => histogramPoint, "list"], temporality]);
const exponentialHistogram = message("ExponentialHistogram", [
  [1, "dataPoints", () => exponentialPoint, "list"],
  temporality,
]);
const summary = message("Summary", [[1, "dataPoints", () => summaryPoint, "list"]]);

/** What a metric may be, by the name of its field. */
export const metricKinds = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"] as const;
export type MetricKind = (typeof metricKinds)[number];

/** What the points of each are. */
export const pointTypes: Readonly<Record<MetricKind, MessageType>> = {
  gauge: numberPoint,
  sum: numberPoint,
  histogram: histogramPoint,
  exponentialHistogram: exponentialPoint,
  summary: summaryPoint,
};

export const metric: MessageType = message(
  "Metric",
  [
    [1, "name", "string"],
    [2, "description", "string"],
    [3, "unit", "string"],
    [5, "gauge", () => gauge],
    [7, "sum", () => sum],
    [9, "histogram", () => histogram],
    [10, "exponentialHistogram", () => exponentialHistogram],
    [11, "summary", () => summary],
    [12, "metadata", () => keyValue, "list"],
  ],
  metricKinds,
);

export const logRecord: MessageType = message("LogRecord", [
  [1, "timeUnixNano", "fixed64"],
  [11, "observedTimeUnixNano", "fixed64"],
  [2, "severityNumber", "enum"],
  [3, "severityText", "string"],
  [5, "body", () => anyValue],
  [6, "attributes", () => keyValue, "list"],
  [7, "droppedAttributesCount", "uint32"],
  [8, "flags", "fixed32"],
  [9, "traceId", "id"],
  [10, "spanId", "id"],
  [12, "eventName", "string"],
]);

/** A request is a list of resources, each with a list of scopes, each with its records: the same for all three. */
export interface SignalShape {
  readonly request: MessageType;
  readonly record: MessageType;
  /** The fields that hold resources, scopes and records, as JSON names them. */
  readonly fields: readonly [resources: string, scopes: string, records: string];
}

function shape(record: MessageType, fields: SignalShape["fields"]): SignalShape {
  const [resources, scopes, records] = fields;
  const ofScope = message(scopes, [
    [1, "scope", () => scope],
    [2, records, () => record, "list"],
    [3, "schemaUrl", "string"],
  ]);
  const ofResource = message(resources, [
    [1, "resource", () => resource],
    [2, scopes, () => ofScope, "list"],
    [3, "schemaUrl", "string"],
  ]);
  const request = message("Export", [[1, resources, () => ofResource, "list"]]);
  return { request, record, fields };
}

export const signals = {
  traces: shape(span, ["resourceSpans", "scopeSpans", "spans"]),
  metrics: shape(metric, ["resourceMetrics", "scopeMetrics", "metrics"]),
  logs: shape(logRecord, ["resourceLogs", "scopeLogs", "logRecords"]),
} as const satisfies Record<string, SignalShape>;

export type Signal = keyof typeof signals;
