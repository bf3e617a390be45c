// Answers in the encoding of the request: Export…ServiceResponse, with a partial success when records were rejected, and
// google.rpc.Status for a request that is refused. An answer without anything to say is no bytes, or `{}`.

import { ProtoWriter } from "./proto-writer.ts";
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

/** `message` says why records were rejected; with none rejected it is a warning. */
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
