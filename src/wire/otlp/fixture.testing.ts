// Requests for tests, as JSON; the same in protobuf through the table of fields.

import { defaultJsonLimits } from "#base/json/value.ts";
import { JsonRequest } from "./json-request.ts";
import { withoutPauses } from "./request-pieces.ts";
import type { Signal } from "./schema.ts";

export const someTraceId = "0af7651916cd43dd8448eb211c80319c";
export const someStartNs = 1_790_000_000_000_000_000n;

type AttributeValue = string | number | boolean | bigint | readonly AttributeValue[];

/** Numbers are doubles, bigints are integers. */
export function toAny(value: AttributeValue): object {
  switch (typeof value) {
    case "string":
      return { stringValue: value };
    case "boolean":
      return { boolValue: value };
    case "bigint":
      return { intValue: String(value) };
    case "number":
      return { doubleValue: Number.isFinite(value) ? value : String(value) };
    default:
      return { arrayValue: { values: value.map(toAny) } };
  }
}

export function toList(attributes: Readonly<Record<string, AttributeValue>>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toAny(value) }));
}

export function someSpan(number: number, more: object = {}): object {
  return {
    traceId: someTraceId,
    spanId: (0x1000 + number).toString(16).padStart(16, "0"),
    name: "train_step",
    kind: 1,
    startTimeUnixNano: String(someStartNs + BigInt(number) * 1_000_000_000n),
    endTimeUnixNano: String(someStartNs + BigInt(number) * 1_000_000_000n + 900_000_000n),
    ...more,
  };
}

/** A span with everything that one may have. */
export const fullSpan: object = someSpan(7, {
  parentSpanId: "b7ad6b7169203331",
  traceState: "vendor=1",
  kind: 3,
  flags: 257,
  attributes: toList({
    text: 'µ "quoted" \\ \n',
    whole: 9_007_199_254_740_993n,
    negative: -5n,
    double: 1,
    tiny: 5e-324,
    yes: true,
    list: ["a", 1n, 2.5, false],
  }),
  droppedAttributesCount: 2,
  events: [
    { timeUnixNano: String(someStartNs), name: "saved", attributes: toList({ path: "/x" }), droppedAttributesCount: 1 },
    { timeUnixNano: String(someStartNs + 1n), name: "again" },
  ],
  droppedEventsCount: 3,
  links: [
    {
      traceId: someTraceId,
      spanId: "00f067aa0ba902b7",
      traceState: "a=b",
      attributes: toList({ why: "batch" }),
      flags: 1,
    },
  ],
  droppedLinksCount: 4,
  status: { code: 2, message: "boom" },
});

export const someResource: Readonly<Record<string, AttributeValue>> = {
  "service.name": "pretrain",
  "nemo.run.id": "run-1",
  "dl.rank": 3n,
  "megatron.num_layers": 12n,
};

export function tracesOf(spans: readonly object[], resource = someResource): object {
  const scope = { name: "megatron", version: "1.2" };
  return { resourceSpans: [{ resource: { attributes: toList(resource) }, scopeSpans: [{ scope, spans }] }] };
}

export function metricsOf(metrics: readonly object[], resource = someResource): object {
  const scope = { name: "megatron" };
  return { resourceMetrics: [{ resource: { attributes: toList(resource) }, scopeMetrics: [{ scope, metrics }] }] };
}

export function logsOf(logRecords: readonly object[], resource = someResource): object {
  const scope = { name: "trainer" };
  return { resourceLogs: [{ resource: { attributes: toList(resource) }, scopeLogs: [{ scope, logRecords }] }] };
}

export function toProtobuf(signal: Signal, request: object): Uint8Array {
  const json = new JsonRequest(signal, Buffer.from(JSON.stringify(request)), defaultJsonLimits);
  const refusal = json.refusal();
  if (refusal !== null) throw new Error(refusal.detail);
  const pieces = [...withoutPauses(json.pieces(Number.POSITIVE_INFINITY))];
  if (json.faults.length > 0) throw new Error(json.faults[0]?.detail);
  return Buffer.concat(pieces);
}

const pointNs = String(someStartNs + 5_000_000_000n);

/** One of each kind of metric. */
export const everyMetric: readonly object[] = [
  {
    name: "megatron.training.loss",
    unit: "1",
    description: "the loss",
    gauge: { dataPoints: [{ timeUnixNano: pointNs, asDouble: 2.5, attributes: toList({ split: "train" }) }] },
  },
  {
    name: "tokens",
    sum: {
      dataPoints: [{ startTimeUnixNano: String(someStartNs), timeUnixNano: pointNs, asInt: "9007199254740993" }],
      aggregationTemporality: 2,
      isMonotonic: true,
    },
  },
  {
    name: "step_duration_ms",
    histogram: {
      dataPoints: [
        {
          ...{ startTimeUnixNano: String(someStartNs), timeUnixNano: pointNs, count: "3", sum: 30.5, min: 4, max: 20 },
          ...{ bucketCounts: ["1", "2", "0"], explicitBounds: [5, 25] },
          exemplars: [{ timeUnixNano: pointNs, asDouble: 20, spanId: "00f067aa0ba902b7", traceId: someTraceId }],
        },
      ],
      aggregationTemporality: 1,
    },
  },
  {
    name: "latency",
    exponentialHistogram: {
      dataPoints: [
        {
          ...{ timeUnixNano: pointNs, count: "4", sum: 10, scale: -2, zeroCount: "1", zeroThreshold: 0.001 },
          ...{ positive: { offset: -3, bucketCounts: ["1", "0", "2"] }, negative: { offset: 1, bucketCounts: ["5"] } },
        },
      ],
      aggregationTemporality: 2,
    },
  },
  {
    name: "rpc",
    summary: {
      dataPoints: [
        {
          ...{ timeUnixNano: pointNs, count: "2", sum: 3 },
          quantileValues: [
            { quantile: 0.5, value: 1 },
            { quantile: 0.99, value: 2 },
          ],
        },
      ],
    },
  },
];

export const someLogs: readonly object[] = [
  {
    ...{ timeUnixNano: pointNs, observedTimeUnixNano: String(someStartNs + 6_000_000_000n), severityNumber: 17 },
    ...{ severityText: "ERROR", body: { stringValue: "loss is NaN" }, attributes: toList({ step: 3n, code: "x" }) },
    ...{ traceId: someTraceId, spanId: "0000000000001007", flags: 1, eventName: "diverged", droppedAttributesCount: 1 },
  },
  { timeUnixNano: pointNs, severityNumber: 9, body: { kvlistValue: { values: toList({ a: 1n, b: 1 }) } } },
  { observedTimeUnixNano: pointNs },
];
