// Answers in the encoding of the request: Export…ServiceResponse, with a partial success when records were rejected, or
// google.rpc.Status for a refused request. A plain success is no bytes, or `{}`.

import { isObject } from "#base/json/value.ts";
import { ProtoWriter } from "./proto-writer.ts";
import { ProtoReader, wireType } from "./protobuf.ts";
import type { Signal } from "./schema.ts";

export type Encoding = "protobuf" | "json";

export const mediaOf: Readonly<Record<Encoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

const rejectedName: Readonly<Record<Signal, string>> = {
  traces: "rejectedSpans",
  metrics: "rejectedDataPoints",
  logs: "rejectedLogRecords",
};

/** `message` says why records were rejected; when none were, it is a warning. */
export function encodeResponse(encoding: Encoding, signal: Signal, rejected: number, message: string): Uint8Array {
  const isWhole = rejected === 0 && message === "";
  if (encoding === "json") {
    const partialSuccess = { [rejectedName[signal]]: String(rejected), errorMessage: message };
    return Buffer.from(JSON.stringify(isWhole ? {} : { partialSuccess }));
  }
  const out = new ProtoWriter();
  if (!isWhole)
    out.message(1, () => {
      if (rejected > 0) out.smallVarint(1, rejected);
      if (message !== "") out.text(2, message);
    });
  return out.finish();
}

/** What a receiver rejected of a request that it accepted; when nothing was rejected, the message is a warning. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** Null when everything was taken without a message, or when the answer is not one of OTLP's. */
export function decodeResponse(encoding: Encoding, signal: Signal, bytes: Uint8Array): PartialSuccess | null {
  const { rejected, message } = encoding === "json" ? fromJsonAnswer(signal, bytes) : fromProtobufAnswer(bytes);
  return rejected === 0 && message === "" ? null : { rejected, message };
}

const whole: PartialSuccess = { rejected: 0, message: "" };

function fromJsonAnswer(signal: Signal, bytes: Uint8Array): PartialSuccess {
  let answer: unknown;
  try {
    answer = JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return whole;
  }
  const partial = memberOf(answer, "partialSuccess");
  const message = memberOf(partial, "errorMessage");
  const rejected = Number(memberOf(partial, rejectedName[signal]) ?? 0);
  return {
    rejected: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    message: typeof message === "string" ? message : "",
  };
}

/** In JSON for protobuf, a field may have either of its names. */
function memberOf(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  return value[name] ?? value[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

function fromProtobufAnswer(bytes: Uint8Array): PartialSuccess {
  const reader = new ProtoReader(bytes);
  let partial = whole;
  while (reader.next(bytes.length)) {
    if (reader.field === 1 && reader.wire === wireType.bytes) partial = readPartial(reader, reader.enter());
  }
  return reader.bad ? whole : partial;
}

function readPartial(reader: ProtoReader, end: number): PartialSuccess {
  let { rejected, message } = whole;
  while (reader.next(end)) {
    const { field, wire, from, to } = reader;
    // A negative number cannot be a number of records.
    if (field === 1 && wire === wireType.varint && reader.high < 2 ** 21) rejected = reader.number;
    if (field === 2 && wire === wireType.bytes) message = Buffer.from(reader.bytes.subarray(from, to)).toString();
  }
  return { rejected, message };
}

/** Codes of gRPC, which google.rpc.Status shares. */
export const statusCode = {
  ok: 0,
  invalidArgument: 3,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export function encodeStatus(encoding: Encoding, code: number, message: string): Uint8Array {
  if (encoding === "json") return Buffer.from(JSON.stringify({ code, message }));
  const out = new ProtoWriter();
  out.smallVarint(1, code);
  out.text(2, message);
  return out.finish();
}
