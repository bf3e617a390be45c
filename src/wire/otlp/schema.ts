// The messages of OTLP 1.11 that are sent to a collector: the number, name and type of every field. The names are
// those of its JSON form. Everything that reads or writes whole messages goes by this table; only spans, of which there
// are most, have a reader of their own.

/** How a field is written. `id` is bytes that JSON has in hex, all other bytes are base64 there. */
const scalarTypes = [
  ...(["string", "bytes", "id", "bool", "double", "uint32", "enum", "sint32"] as const),
  ...(["int64", "uint64", "fixed32", "fixed64", "sfixed64"] as const),
];
export type ScalarType = (typeof scalarTypes)[number];

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
  /** Fields that are written even with their default value; all choices are among them. */
  readonly explicit: ReadonlySet<string>;
}

const messages = new Map<string, MessageType>();

/**
 * `fields` is a list of number, name and type: a scalar or the name of a message. After the type, `*` stands for a list,
 * `|` for one of the choices, `?` for a field that is also written explicitly.
 */
function message(name: string, fields: string): MessageType {
  const marked = fields.split(",").map((field) => {
    const [, number, fieldName = "", type = "", mark] = /^\s*(\d+) (\w+) (\w+)([*|?])?\s*$/.exec(field) ?? [];
    if (number === undefined) throw new Error(`${name} has a field that cannot be read: ${field}.`);
    return { number: Number(number), name: fieldName, type: toType(type), isList: mark === "*", mark };
  });
  const named = (marks: string) =>
    new Set(marked.filter(({ mark = " " }) => marks.includes(mark)).map((field) => field.name));
  const made: MessageType = {
    name,
    byNumber: new Map(marked.map((field) => [field.number, field])),
    byName: new Map(marked.map((field) => [field.name, field])),
    choices: named("|"),
    explicit: named("|?"),
  };
  messages.set(name, made);
  return made;
}

function toType(word: string): Field["type"] {
  const scalar = scalarTypes.find((type) => type === word);
  if (scalar !== undefined) return scalar;
  let found: MessageType | undefined;
  return {
    message: () => {
      found ??= messages.get(word);
      if (found === undefined) throw new Error(`There is no message ${word}.`);
      return found;
    },
  };
}

message(
  "AnyValue",
  `1 stringValue string|, 2 boolValue bool|, 3 intValue int64|, 4 doubleValue double|, 5 arrayValue ArrayValue|,
  6 kvlistValue KeyValueList|, 7 bytesValue bytes|`,
);
message("ArrayValue", "1 values AnyValue*");
message("KeyValueList", "1 values KeyValue*");
message("KeyValue", "1 key string, 2 value AnyValue");
message("EntityRef", "1 schemaUrl string, 2 type string, 3 idKeys string*, 4 descriptionKeys string*");

export const resource: MessageType = message(
  "Resource",
  "1 attributes KeyValue*, 2 droppedAttributesCount uint32, 3 entityRefs EntityRef*",
);
export const scope: MessageType = message(
  "InstrumentationScope",
  "1 name string, 2 version string, 3 attributes KeyValue*, 4 droppedAttributesCount uint32",
);

message("Event", "1 timeUnixNano fixed64, 2 name string, 3 attributes KeyValue*, 4 droppedAttributesCount uint32");
message(
  "Link",
  `1 traceId id, 2 spanId id, 3 traceState string, 4 attributes KeyValue*, 5 droppedAttributesCount uint32,
  6 flags fixed32`,
);
message("Status", "2 message string, 3 code enum");
export const span: MessageType = message(
  "Span",
  `1 traceId id, 2 spanId id, 3 traceState string, 4 parentSpanId id, 5 name string, 6 kind enum,
  7 startTimeUnixNano fixed64, 8 endTimeUnixNano fixed64, 9 attributes KeyValue*, 10 droppedAttributesCount uint32,
  11 events Event*, 12 droppedEventsCount uint32, 13 links Link*, 14 droppedLinksCount uint32, 15 status Status,
  16 flags fixed32`,
);

message(
  "Exemplar",
  `7 filteredAttributes KeyValue*, 2 timeUnixNano fixed64, 3 asDouble double|, 6 asInt sfixed64|, 4 spanId id,
  5 traceId id`,
);
const numberPoint = message(
  "NumberDataPoint",
  `7 attributes KeyValue*, 2 startTimeUnixNano fixed64, 3 timeUnixNano fixed64, 4 asDouble double|, 6 asInt sfixed64|,
  5 exemplars Exemplar*, 8 flags uint32`,
);
const histogramPoint = message(
  "HistogramDataPoint",
  `9 attributes KeyValue*, 2 startTimeUnixNano fixed64, 3 timeUnixNano fixed64, 4 count fixed64, 5 sum double?,
  6 bucketCounts fixed64*, 7 explicitBounds double*, 8 exemplars Exemplar*, 10 flags uint32, 11 min double?,
  12 max double?`,
);
message("Buckets", "1 offset sint32, 2 bucketCounts uint64*");
const exponentialPoint = message(
  "ExponentialHistogramDataPoint",
  `1 attributes KeyValue*, 2 startTimeUnixNano fixed64, 3 timeUnixNano fixed64, 4 count fixed64, 5 sum double?,
  6 scale sint32, 7 zeroCount fixed64, 8 positive Buckets, 9 negative Buckets, 10 flags uint32, 11 exemplars Exemplar*,
  12 min double?, 13 max double?, 14 zeroThreshold double`,
);
message("ValueAtQuantile", "1 quantile double, 2 value double");
const summaryPoint = message(
  "SummaryDataPoint",
  `7 attributes KeyValue*, 2 startTimeUnixNano fixed64, 3 timeUnixNano fixed64, 4 count fixed64, 5 sum double,
  6 quantileValues ValueAtQuantile*, 8 flags uint32`,
);
message("Gauge", "1 dataPoints NumberDataPoint*");
message("Sum", "1 dataPoints NumberDataPoint*, 2 aggregationTemporality enum, 3 isMonotonic bool");
message("Histogram", "1 dataPoints HistogramDataPoint*, 2 aggregationTemporality enum");
message("ExponentialHistogram", "1 dataPoints ExponentialHistogramDataPoint*, 2 aggregationTemporality enum");
message("Summary", "1 dataPoints SummaryDataPoint*");

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
  `1 name string, 2 description string, 3 unit string, 5 gauge Gauge|, 7 sum Sum|, 9 histogram Histogram|,
  10 exponentialHistogram ExponentialHistogram|, 11 summary Summary|, 12 metadata KeyValue*`,
);

export const logRecord: MessageType = message(
  "LogRecord",
  `1 timeUnixNano fixed64, 11 observedTimeUnixNano fixed64, 2 severityNumber enum, 3 severityText string, 5 body AnyValue,
  6 attributes KeyValue*, 7 droppedAttributesCount uint32, 8 flags fixed32, 9 traceId id, 10 spanId id,
  12 eventName string`,
);

/** A request is a list of resources, each with a list of scopes, each with its records: the same for all three. */
export interface SignalShape {
  readonly request: MessageType;
  readonly record: MessageType;
  /** The fields that hold resources, scopes and records, as JSON names them. */
  readonly fields: readonly [resources: string, scopes: string, records: string];
}

function shape(record: MessageType, fields: SignalShape["fields"]): SignalShape {
  const [resources, scopes, records] = fields;
  message(scopes, `1 scope ${scope.name}, 2 ${records} ${record.name}*, 3 schemaUrl string`);
  message(resources, `1 resource ${resource.name}, 2 ${scopes} ${scopes}*, 3 schemaUrl string`);
  return { request: message(`Export ${resources}`, `1 ${resources} ${resources}*`), record, fields };
}

export const signals = {
  traces: shape(span, ["resourceSpans", "scopeSpans", "spans"]),
  metrics: shape(metric, ["resourceMetrics", "scopeMetrics", "metrics"]),
  logs: shape(logRecord, ["resourceLogs", "scopeLogs", "logRecords"]),
} as const satisfies Record<string, SignalShape>;

export type Signal = keyof typeof signals;
