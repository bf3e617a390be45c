// The fields of a record that the document does not name. They are kept in `extra`, so that an export returns them. A record
// may have a million of them, or one of megabytes, so those of a long record are written with pauses.

import { ByteWriter } from "#base/byte-writer.ts";
import { rewriteStrict } from "#base/json/strict.ts";
import { decodeAscii } from "#base/json/text.ts";

export interface UnknownField {
  /** The name with its quotes: bytes[nameFrom..nameTo). */
  readonly nameFrom: number;
  readonly nameTo: number;
  readonly from: number;
  readonly to: number;
  /** The value is strict JSON as it stands. */
  readonly isStrict: boolean;
}

const pauseFields = 2048;

export class UnknownFields {
  /** The bytes that the fields stand in. */
  bytes: Uint8Array = new Uint8Array(0);
  private readonly ofRow = new Map<number, Map<string, UnknownField>>();
  /** The members of rows that were written with pauses. */
  private readonly written = new Map<number, Uint8Array>();

  clear(): void {
    if (this.ofRow.size > 0) this.ofRow.clear();
    if (this.written.size > 0) this.written.clear();
  }

  /** Starts the next row. */
  forget(row: number): void {
    if (this.ofRow.size === 0) return;
    this.ofRow.delete(row);
    this.written.delete(row);
  }

  has(row: number): boolean {
    return this.ofRow.size > 0 && this.ofRow.has(row);
  }

  /** False when the row had a field of this name: the last one counts. */
  add(row: number, name: string, field: UnknownField): boolean {
    const fields = this.ofRow.get(row);
    if (fields === undefined) {
      this.ofRow.set(row, new Map([[name, field]]));
      return true;
    }
    const { size } = fields;
    fields.set(name, field);
    return fields.size > size;
  }

  /** A text without escapes; '' when there is no such field, or it is not a text. */
  textOf(row: number, name: string): string {
    const field = this.ofRow.get(row)?.get(name);
    if (field === undefined || this.bytes[field.from] !== 0x22) return "";
    return decodeAscii(this.bytes, field.from + 1, field.to - 1);
  }

  /** Writes the members of a long record with pauses, so that `write` only copies them. */
  *prepare(row: number, sizeBytes: number): Generator<void, void> {
    const fields = this.ofRow.get(row);
    if (fields === undefined) return;
    const writer = new ByteWriter(sizeBytes);
    let count = 0;
    for (const field of fields.values()) {
      if (++count % pauseFields === 0) yield;
      this.writeField(writer, field);
    }
    this.written.set(row, writer.view());
    yield;
  }

  /** The members with a comma before each. */
  write(row: number, writer: ByteWriter): void {
    const written = this.written.get(row);
    if (written !== undefined) writer.raw(written);
    else for (const field of this.ofRow.get(row)?.values() ?? []) this.writeField(writer, field);
  }

  private writeField(writer: ByteWriter, { nameFrom, nameTo, from, to, isStrict }: UnknownField): void {
    const { bytes } = this;
    writer.byte(0x2c);
    writer.raw(bytes, nameFrom, nameTo);
    writer.byte(0x3a);
    if (isStrict) writer.raw(bytes, from, to);
    else writer.raw(rewriteStrict(bytes, from, to));
  }
}
