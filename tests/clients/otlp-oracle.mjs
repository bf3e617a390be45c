// An independent reader and writer of OTLP's spans: protobufjs, from the messages as OpenTelemetry's repository has them.
//
// Usage: node otlp-oracle.mjs COUNT SEED    prints COUNT spans, each as {"bytes": base64, "said": JSON form}
//        node otlp-oracle.mjs read          reads base64 lines from standard input and prints their JSON form

import protobuf from "protobufjs";

const { root } = protobuf.parse(
  `syntax = "proto3";
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7; } }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3;
    uint32 dropped_attributes_count = 4; }
  message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4;
    uint32 dropped_attributes_count = 5; fixed32 flags = 6; }
  message Status { string message = 2; int32 code = 3; }
  message Span { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
    int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
    uint32 dropped_attributes_count = 10; repeated Event events = 11; uint32 dropped_events_count = 12;
    repeated Link links = 13; uint32 dropped_links_count = 14; Status status = 15; fixed32 flags = 16; }`,
);
const Span = root.lookupType("Span");

let state = 1;
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state % below;
}
const bytes = (size) => Buffer.from(Array.from({ length: size }, () => random(256)));
const long = () => protobuf.util.Long.fromBits(random(2 ** 32), random(2 ** 31));
const word = () => 'aµ"\\\n€𝄞z'.slice(0, random(8)).toWellFormed();

function value(depth) {
  switch (random(depth > 2 ? 5 : 7)) {
    case 0:
      return { stringValue: word() };
    case 1:
      return { boolValue: random(2) === 1 };
    case 2:
      return { intValue: random(2) === 0 ? long() : long().negate() };
    case 3:
      return { doubleValue: (random(2000) - 1000) / 8 };
    case 4:
      return { bytesValue: bytes(random(6)) };
    case 5:
      return { arrayValue: { values: Array.from({ length: random(4) }, () => value(depth + 1)) } };
    default:
      return { kvlistValue: { values: attributes(depth + 1) } };
  }
}
const attributes = (depth) =>
  Array.from({ length: random(4) }, (_, at) => ({ key: `${word()}${at}`, value: value(depth) }));

function span() {
  return {
    traceId: bytes(16),
    spanId: bytes(8),
    parentSpanId: bytes(random(2) * 8),
    traceState: word(),
    name: word(),
    kind: random(6),
    startTimeUnixNano: long(),
    endTimeUnixNano: long(),
    attributes: attributes(0),
    droppedAttributesCount: random(2 ** 32),
    events: Array.from({ length: random(3) }, () => ({
      timeUnixNano: long(),
      name: word(),
      attributes: attributes(1),
    })),
    links: Array.from({ length: random(3) }, () => ({ traceId: bytes(16), spanId: bytes(8), flags: random(2 ** 32) })),
    status: { message: word(), code: random(3) },
    flags: random(2 ** 32),
  };
}

/** As OTLP's JSON has it: ids in hex, other bytes in base64, 64-bit integers as text. */
function said(message) {
  const object = Span.toObject(message, { longs: String, bytes: Buffer });
  const walk = (node, name) => {
    if (node instanceof Uint8Array) return Buffer.from(node).toString(name === "bytesValue" ? "base64" : "hex");
    if (Array.isArray(node)) return node.map((item) => walk(item, name));
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, key)]));
  };
  return walk(object, "");
}

const [first, seed] = process.argv.slice(2);
if (first === "read") {
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  for (const line of text.split("\n")) console.log(JSON.stringify(said(Span.decode(Buffer.from(line, "base64")))));
} else {
  state = Number(seed);
  for (let at = 0; at < Number(first); at++) {
    const encoded = Buffer.from(Span.encode(Span.fromObject(span())).finish());
    console.log(JSON.stringify({ bytes: encoded.toString("base64"), said: said(Span.decode(encoded)) }));
  }
}
