// `/v1/traces` is also the path of OTLP over HTTP. OTLP as JSON is told apart by `decodeBatch` (its `resourceSpans`
// key); as protobuf only its content type says so, since a protobuf body may look like anything.

export function isOtlpContentType(contentType: string | undefined): boolean {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "application/x-protobuf" || type === "application/protobuf";
}
