// A request → its records as columns. Every list is read on its own: a record that cannot be read is a fault and leaves its
// neighbours alone. Only bytes that are no request at all are refused as a whole.

import type { Fault } from "#model/fault.ts";
import { LogColumns } from "./log-columns.ts";
import type { AttributeRole } from "./meaning.ts";
import type { Origin } from "./origin.ts";
import { PointColumns } from "./point-columns.ts";
import type { Signal } from "./schema.ts";
import { SpanColumns } from "./span-columns.ts";
import { RequestWalk } from "./walk.ts";

export type SignalColumns =
  | { readonly signal: "traces"; readonly columns: SpanColumns }
  | { readonly signal: "metrics"; readonly columns: PointColumns }
  | { readonly signal: "logs"; readonly columns: LogColumns };

export type DecodedExport = SignalColumns & {
  readonly origins: readonly Origin[];
  readonly faults: readonly Fault[];
  /** Records that became faults. */
  readonly rejected: number;
};

export type ExportResult =
  | { readonly ok: true; readonly request: DecodedExport }
  | { readonly ok: false; readonly refusal: Fault };

export interface DecodeOptions {
  readonly roleOf: (name: string) => AttributeRole;
  readonly faultsMax?: number | undefined;
}

export function decodeExport(signal: Signal, body: Uint8Array, { roleOf, faultsMax }: DecodeOptions): ExportResult {
  const read = createColumns(signal, roleOf);
  const { columns } = read;
  const spans = read.signal === "traces" ? read.columns : null;
  const walk = new RequestWalk(body, (count) => spans?.expect(count), faultsMax);
  const isRequest = walk.walk((reader, from, to, origin) =>
    columns.take(reader, from, to, walk.origins[origin] as Origin, origin),
  );
  spans?.finish();
  if (!isRequest) return { ok: false, refusal: toRefusal(signal, body, walk.reader.start) };
  const more = read.signal === "metrics" ? read.columns.rejected : 0;
  return {
    ok: true,
    request: { ...read, origins: walk.origins, faults: walk.faults, rejected: walk.rejected + more },
  };
}

function createColumns(signal: Signal, roleOf: (name: string) => AttributeRole): SignalColumns {
  switch (signal) {
    case "traces":
      return { signal, columns: new SpanColumns(roleOf) };
    case "metrics":
      return { signal, columns: new PointColumns(roleOf) };
    case "logs":
      return { signal, columns: new LogColumns(roleOf) };
  }
}

export function toRefusal(signal: Signal, body: Uint8Array, offset: number): Fault {
  const detail = `The body is no protobuf of an OTLP request for ${signal}.`;
  return { code: "otlp_not_export", detail, place: { offset }, raw: body.slice() };
}
