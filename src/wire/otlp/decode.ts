// A request → its records as columns. Every list is read on its own: a record that cannot be read is a fault and leaves its
// neighbours alone. Only bytes that are no request at all are refused as a whole.

import { atOnce } from "#base/turns.ts";
import type { Fault } from "#model/fault.ts";
import { LogColumns } from "./log-columns.ts";
import type { AttributeRole } from "./meaning.ts";
import { type Origin, readOrigin } from "./origin.ts";
import { PointColumns } from "./point-columns.ts";
import type { Signal } from "./schema.ts";
import { SpanColumns } from "./span-columns.ts";
import { findTrouble, isItem, listsOf, type RecordList, Rejected, readerAt, scopeTrouble } from "./walk.ts";

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
  // Checked first: a body that is not a request must not be taken in part.
  const trouble = atOnce(findTrouble(body));
  if (trouble >= 0) return { ok: false, refusal: toRefusal(signal, body, trouble) };
  const read = createColumns(signal, roleOf);
  const origins: Origin[] = [];
  const found = new Rejected(body, faultsMax);
  for (const list of listsOf(body, found)) if (list !== null) takeList(read, body, list, origins, found);
  if (read.signal === "traces") read.columns.finish();
  const more = read.signal === "metrics" ? read.columns.rejected : 0;
  return { ok: true, request: { ...read, origins, faults: found.faults, rejected: found.count + more } };
}

function takeList(read: SignalColumns, body: Uint8Array, list: RecordList, origins: Origin[], found: Rejected): void {
  const origin = readOrigin(list.origin);
  if (origin === null) {
    found.add(list.from, list.to, scopeTrouble);
    return;
  }
  const known = origins.indexOf(origin);
  const originAt = known < 0 ? origins.push(origin) - 1 : known;
  if (read.signal === "traces") read.columns.expect(list.count);
  const { columns } = read;
  const reader = readerAt(body, list.from);
  while (reader.next(list.to)) {
    if (!isItem(reader)) continue;
    const { from, to } = reader;
    const reason = columns.take(reader, from, to, origin, originAt);
    if (reason !== null) found.add(from, to, reason);
    // A bad record does not spoil the ones after it.
    reader.bad = false;
    reader.pos = to;
  }
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
