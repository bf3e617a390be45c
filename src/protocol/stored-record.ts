// A record as the store returns it: one row or, for some records, several. From it each protocol rebuilds the text that came,
// or one that is equal in every value, and the line of an export.

import type { Texts } from "#base/json/texts.ts";
import type { Message } from "#wire/otlp/message.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { type RecordKind, recordKinds } from "./record-kinds.ts";

/** 64-bit integers are decimal text. If a record has several rows, only the first has `extra` and `raw`. */
export interface RecordRow {
  readonly kind: RecordKind;
  readonly group_key: string;
  readonly protocol: string;
  readonly type: string;
  readonly worker: string;
  readonly seq: string | null;
  readonly ts_ns: string;
  readonly jpos: string;
  readonly flags: number;
  readonly extra: string;
  readonly raw: string;
  readonly cells: readonly (string | null)[];
}

export type StoredRecord = readonly [RecordRow, ...RecordRow[]];

export interface RecordText {
  readonly text: Texts;
  /** False when it is exactly the text that came. */
  readonly rebuilt: boolean;
}

/** A line of an export: its kind, its members before the record, and the record. */
export interface ExportLine {
  readonly kind: string;
  readonly head: object;
  readonly record: Texts;
  /** What the record is: strict JSON, any text, or bytes in base64. */
  readonly form: "json" | "text" | "base64";
}

/** What is stored about the batch in which rows came. */
export interface BatchHead {
  readonly batchId: string;
  readonly sdkVersion: string;
  readonly createdNs: string;
  readonly extra: string;
  /** Its run was named by the request, not by the rows. */
  readonly isNamed: boolean;
  /** Distinguishes where it came from, without revealing it. */
  readonly source: string;
}

/** A record of OTLP with the resource and scope that it names, as JSON. */
export interface OtlpMessage {
  readonly signal: Signal;
  readonly message: Message;
  /** The record in protobuf, if the message is not exact. */
  readonly bytes: Uint8Array | null;
  readonly origin: string;
}

/** Works with pauses, because a record may have megabytes. */
export interface StoredRecords {
  toText(record: StoredRecord): Generator<void, RecordText>;
  /** A record that came as OTLP, as it came. Without this, the sender has to translate records to OTLP. */
  toOtlp?(row: RecordRow): Generator<void, OtlpMessage>;
  /** `batch` is given if it is stored in which batch these records came. */
  toLine(
    records: readonly [StoredRecord, ...StoredRecord[]],
    run: string,
    batch: BatchHead | undefined,
  ): Generator<void, ExportLine>;
  /** Whether all records of one journal record make one line, because they came in one body; otherwise each makes its own. */
  readonly isBatched: boolean;
}

type Cells<K extends RecordKind> = { readonly [C in (typeof recordKinds)[K]["columns"][number]]: string | null };

export function cellsOf<K extends RecordKind>(row: RecordRow, kind: K): Cells<K> {
  const cells: Record<string, string | null> = {};
  const { columns } = recordKinds[kind];
  for (let at = 0; at < columns.length; at++) cells[columns[at] as string] = row.cells[at] ?? null;
  return cells as Cells<K>;
}

/** For columns that are never null. */
export function textCells<T extends Readonly<Record<string, string | null>>>(cells: T) {
  return cells as { readonly [C in keyof T]: string };
}

const words: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  "-nan": Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
};

export function toDouble(text: string | null): number | null {
  return text === null ? null : (words[text] ?? Number(text));
}
