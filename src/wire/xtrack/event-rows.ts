// One checked event to the rows of its table.
//
// What has no column is in `extra`: {"envelope":{…},"m":{…},"p":{…}} with the fields that are unknown there, the
// optional ones sent as null or empty, and odd steps and epochs. `raw` holds the event's exact text when columns and
// `extra` cannot reproduce it (NaN inside JSON, a key twice, half a surrogate pair, an odd run id). Of a batch, only the
// first row has them.

import { ByteWriter } from "#base/byte-writer.ts";
import type { Int64Column, NullableColumn, StringColumn, UInt32Column } from "#base/columns.ts";
import { jsonKind } from "#base/json/cursor.ts";
import { parseDouble } from "#base/json/number.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { EventColumns } from "./event-columns.ts";
import { type Field, type FieldSet, integerOf, isInteger64, pickFields, type StrictTexts, textOf } from "./fields.ts";
import { readPath } from "./schema.ts";

export interface EventParts {
  readonly type: string;
  readonly envelope: FieldSet;
  readonly m: FieldSet;
  readonly p: FieldSet;
  /** The value of `p` in the envelope. */
  readonly payload: Field;
  readonly bytes: Uint8Array;
  /** The whole text of the event. */
  readonly start: number;
  readonly end: number;
  readonly flags: number;
  /** Type, metadata columns and `extra` cannot reproduce envelope and metadata. */
  readonly isOdd: boolean;
  /** The columns cannot reproduce the payload. */
  readonly isPayloadOdd: boolean;
  readonly strict: StrictTexts;
}

const noBytes = new Uint8Array(0);
const envelopeNames = ["v", "t", "m", "p"];
const metaNames = ["seq", "ts", "wid"];
const paramNames = ["run_id", "key", "nested_key"];
const logNames = ["run_id", "level", "msg", "logger", "step", "fields"];

/** The columns every kind of row ends with. */
interface Tail {
  readonly flags: UInt32Column;
  readonly extra: StringColumn;
  readonly raw: StringColumn;
}

/** Gathers what a row needs besides its columns while they are pushed. */
export class RowNotes {
  flags: number;
  isRaw: boolean;
  private readonly parts: EventParts;
  private odd: Field[] = [];

  constructor(parts: EventParts, withPayload: boolean) {
    this.parts = parts;
    this.flags = parts.flags;
    this.isRaw = parts.isOdd || (withPayload && parts.isPayloadOdd);
  }

  /** The field has no column, or its column cannot hold it. */
  keep(field: Field): void {
    this.odd.push(field);
  }

  /** Keeps unknown fields, and known ones that are null, because null is stored like absence. */
  *keepUnknown(set: FieldSet, known: readonly string[], value = ""): Generator<void, void> {
    const isKept = ({ name, kind }: Field): boolean =>
      name !== value && (!known.includes(name) || kind === jsonKind.null);
    this.odd = yield* pickFields(set, isKept);
  }

  /**
   * To be called with all texts of the row before the first is asked for: when one of them has half a surrogate pair,
   * all of them stand in the row in their JSON-escaped form.
   */
  noteTexts(texts: Iterable<string | Field | undefined>): void {
    for (const text of texts) {
      if (typeof text === "string" ? text.isWellFormed() : !text?.lone) continue;
      this.flags |= rowFlags.escaped_text;
      this.isRaw = true;
      return;
    }
  }

  text(field: Field): string {
    return this.plainText(textOf(this.parts.bytes, field));
  }

  /** Pushes the text of a field; one without escapes is copied as it stands. */
  pushText(column: StringColumn, field: Field): void {
    if (field.escaped || (this.flags & rowFlags.escaped_text) !== 0) column.push(this.text(field));
    else column.pushBytes(this.parts.bytes, field.start + 1, field.end - 1);
  }

  plainText(text: string): string {
    return (this.flags & rowFlags.escaped_text) === 0 ? text : JSON.stringify(text).slice(1, -1);
  }

  /** The text of `extra`, '' when there is none. After it, `isRaw` is final. With pauses, as there may be much. */
  *extra(): Generator<void, Uint8Array> {
    const { parts, odd } = this;
    const envelope = yield* unknownIn(parts.envelope, envelopeNames);
    const m = yield* unknownIn(parts.m, metaNames);
    let text: Uint8Array = noBytes;
    if (envelope.length + m.length + odd.length > 0) {
      const writer = new ByteWriter(parts.end - parts.start);
      yield* this.section(writer, "envelope", envelope);
      yield* this.section(writer, "m", m);
      yield* this.section(writer, "p", odd);
      writer.byte(0x7d);
      // In place of the first comma.
      writer.bytes[0] = 0x7b;
      text = writer.view();
    }
    if (parts.strict.lossy) this.isRaw = true;
    return text;
  }

  private *section(writer: ByteWriter, name: string, fields: readonly Field[]): Generator<void, void> {
    if (fields.length === 0) return;
    writer.text(`,"${name}":`);
    yield* this.parts.strict.writeObject(writer, this.parts.bytes, fields);
  }

  *finish(tail: Tail): Generator<void, void> {
    const { parts } = this;
    tail.extra.pushBytes(yield* this.extra());
    tail.flags.push(this.flags);
    if (this.isRaw) tail.raw.pushBytes(parts.bytes, parts.start, parts.end);
    else tail.raw.push("");
  }
}

function* unknownIn(set: FieldSet, known: readonly string[]): Generator<void, readonly Field[]> {
  return yield* pickFields(set, ({ name }) => !known.includes(name));
}

export function* pushEventRow(columns: EventColumns, parts: EventParts, event: number): Generator<void, void> {
  const { rows } = columns.events;
  const { bytes, strict } = parts;
  columns.events.event.push(event);
  const notes = new RowNotes(parts, false);
  if (parts.type === "run_end" && isFailureWithoutError(parts)) notes.flags |= rowFlags.missing_error;
  const step = parts.type === "checkpoint" ? parts.p.fields.get("step") : undefined;
  if (step !== undefined && !isInteger64(bytes, step)) notes.flags |= rowFlags.odd_step;
  notes.noteTexts([parts.type]);
  rows.type.push(notes.plainText(parts.type));
  rows.payload.pushBytes(strict.of(bytes, parts.payload.start, parts.payload.end));
  yield* notes.finish(rows);
}

function isFailureWithoutError(parts: EventParts): boolean {
  const status = parts.p.fields.get("status") as Field;
  const error = parts.p.fields.get("error");
  return textOf(parts.bytes, status) === "failed" && (error === undefined || error.kind === jsonKind.null);
}

export function* pushParamRow(columns: EventColumns, parts: EventParts, event: number): Generator<void, void> {
  const { rows } = columns.params;
  const { bytes, strict } = parts;
  const { fields } = parts.p;
  const notes = new RowNotes(parts, true);
  yield* notes.keepUnknown(parts.p, paramNames, "value");
  columns.params.event.push(event);
  const nested = presentField(fields.get("nested_key"));
  const path = (nested && readPath(bytes, nested)) ?? [];
  const key = textOf(bytes, fields.get("key") as Field);
  notes.noteTexts([key, ...path]);
  rows.name.push(notes.plainText([key, ...path].join(".")));
  rows.key.push(notes.plainText(key));
  if (nested === undefined) rows.nested_key.push("");
  else rows.nested_key.pushBytes(strict.of(bytes, nested.start, nested.end));
  const value = fields.get("value") as Field;
  rows.value.pushBytes(strict.of(bytes, value.start, value.end));
  if (value.kind === jsonKind.number)
    rows.value_num.present().push(parseDouble(bytes, value.start, value.end, value.form));
  else rows.value_num.pushNull();
  yield* notes.finish(rows);
}

export function* pushLogRow(columns: EventColumns, parts: EventParts, event: number): Generator<void, void> {
  const { rows } = columns.logs;
  const { bytes, strict } = parts;
  const { fields } = parts.p;
  const notes = new RowNotes(parts, true);
  yield* notes.keepUnknown(parts.p, logNames);
  columns.logs.event.push(event);
  const logger = presentField(fields.get("logger"));
  notes.noteTexts([fields.get("level"), fields.get("msg"), logger]);
  rows.level.push(notes.text(fields.get("level") as Field));
  notes.pushText(rows.msg, fields.get("msg") as Field);
  const loggerText = logger === undefined ? "" : notes.text(logger);
  if (logger !== undefined && loggerText === "") notes.keep(logger);
  rows.logger.push(loggerText);
  pushWhole(rows.step, bytes, presentField(fields.get("step")), notes);
  const data = presentField(fields.get("fields"));
  if (data === undefined) rows.fields.push("");
  else rows.fields.pushBytes(strict.of(bytes, data.start, data.end));
  yield* notes.finish(rows);
}

/** The field, unless it is absent or null. */
export function presentField(field: Field | undefined): Field | undefined {
  return field === undefined || field.kind === jsonKind.null ? undefined : field;
}

/** A whole number into its column; anything else leaves null there and is kept in `extra`. */
function pushWhole(
  column: NullableColumn<Int64Column>,
  bytes: Uint8Array,
  field: Field | undefined,
  notes: RowNotes,
): void {
  const value = field === undefined ? undefined : integerOf(bytes, field);
  if (value === undefined) column.pushNull();
  else column.present().pushBigInt(BigInt(value));
  if (field !== undefined && !isInteger64(bytes, field)) {
    notes.flags |= rowFlags.odd_step;
    notes.keep(field);
  }
}
