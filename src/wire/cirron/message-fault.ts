// A body that is not JSON as the fault that it is kept as.

import type { JsonFault } from "#base/json/value.ts";
import type { Fault, FaultCode } from "#model/fault.ts";
import { isOtlpProtobuf } from "./otlp.ts";

const codeOfJsonFault: { readonly [K in JsonFault["kind"]]: FaultCode } = {
  syntax: "json_syntax",
  depth: "json_too_deep",
  size: "json_too_large",
};

/** `bytes` are the whole body. */
export function toMessageFault(fault: JsonFault, bytes: Uint8Array): Fault {
  if (fault.kind === "syntax" && isOtlpProtobuf(bytes)) {
    return { code: "cirron_otlp", detail: "the body is an OTLP export as protobuf", place: {}, raw: bytes.slice() };
  }
  const detail = `${fault.reason} (byte ${fault.offset})`;
  return { code: codeOfJsonFault[fault.kind], detail, place: { offset: fault.offset }, raw: bytes.slice() };
}
