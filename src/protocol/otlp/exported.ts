import type { ExportedKind } from "#protocol/exported.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { routeOf } from "./read-files.ts";

export function exportedKindOf(signal: Signal): `otlp_${Signal}` {
  return `otlp_${signal}`;
}

/** A request, rebuilt from its rows: JSON, or protobuf in base64 where JSON cannot say it. */
export const exportedRequests: readonly ExportedKind[] = (["traces", "metrics", "logs"] as const).map((signal) => ({
  kind: exportedKindOf(signal),
  joinBy: () => null,
  toBytes: ({ base64 }, record) => [base64 === undefined ? record : Buffer.from(base64, "base64")],
  toShipment: () => ({ route: routeOf[signal] }),
}));
