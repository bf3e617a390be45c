// How a protocol's lines in our own export (docs/export.md) are imported: through their original door, under their own
// identity, so that importing an export twice changes nothing.

import type { Shipment } from "./reading/reader.ts";

/** The members of a line before its record. */
export interface ExportHead {
  readonly kind: string;
  readonly run?: string;
  readonly source?: string;
  readonly stream_run?: string;
  readonly wrapper?: string;
  readonly stream?: "stdout" | "stderr";
  readonly offset?: string;
  readonly at_ns?: string;
  readonly text?: string;
  readonly base64?: string;
}

export interface ExportedKind {
  /** The value of the member `kind`. */
  readonly kind: string;
  /** Adjacent lines for which this is equal go into one request; null for a line that needs its own. */
  joinBy(head: ExportHead): string | null;
  /** Whether a line continues where the request so far ends. Without this, any line with the same `joinBy` does. */
  follows?(first: ExportHead, bytes: number, next: ExportHead): boolean;
  toBytes(head: ExportHead, record: Uint8Array): readonly Uint8Array[];
  /** `line` is the number of the last line in the request. */
  toShipment(head: ExportHead, line: number): Pick<Shipment, "route" | "query"> & { readonly source?: string | null };
}

const lineEnd = Uint8Array.of(0x0a);

export function asLine(_: ExportHead, record: Uint8Array): readonly Uint8Array[] {
  return [record, lineEnd];
}
