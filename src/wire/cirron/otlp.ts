// `/v1/traces` is also the path of OTLP over HTTP, so an OpenTelemetry exporter may well be pointed at it by mistake.
// OTLP as JSON shows itself by its `resourceSpans` key. As protobuf it is recognised by its outermost layer:
//
//   ExportTraceServiceRequest = repeated field 1 (tag 0x0a, varint length, ResourceSpans)
//   ResourceSpans             = fields 1, 2 and 3, all length-delimited (tags 0x0a, 0x12, 0x1a)

const requestTag = 0x0a;
const resourceTags = new Set([0x0a, 0x12, 0x1a]);

/** Whether the bytes consist of ResourceSpans and nothing else. */
export function isOtlpProtobuf(bytes: Uint8Array): boolean {
  let p = 0;
  while (p < bytes.length) {
    if (bytes[p] !== requestTag) return false;
    let size = 0;
    let shift = 0;
    for (p++; ; p++) {
      const part = bytes[p];
      if (part === undefined || shift > 28) return false;
      size += (part & 0x7f) * 2 ** shift;
      shift += 7;
      if (part < 0x80) break;
    }
    p++;
    if (size > 0 && !resourceTags.has(bytes[p] as number)) return false;
    p += size;
  }
  return p === bytes.length && p > 0;
}
