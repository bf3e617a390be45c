// Whole messages as plain objects, by the table of fields: for kinds of records of which there are few, for what is kept as it
// came, and for what is sent on. What the table does not know is kept beside the fields and written again.

import { ProtoWriter } from "./proto-writer.ts";
import { ProtoReader, wireType } from "./protobuf.ts";
import type { Field, MessageType, ScalarType } from "./schema.ts";

export type FieldValue = string | boolean | number | bigint | Uint8Array | Message | FieldValue[];

/** By the JSON names of the fields. 64-bit integers are bigints, bytes and ids are bytes. */
export interface Message {
  [name: string]: FieldValue;
}

/** Where a message keeps protobuf fields that the table does not know, tags included. No field has such a name. */
export const unknownFields = "?fields";
/** Where a message keeps members of a JSON object that the table does not know, as the text of an object. */
export const unknownMembers = "?members";
/** Protobuf keeps these numbers for implementations: no message will ever have a field of this one. */
const membersField = 19_000;

/** No real attribute nests deeper; the limit keeps readers from exhausting the stack. */
export const depthMax = 100;

/**
 * No real record has more values: collectors send at most some thousand points of one metric at once. Values become objects
 * or items of lists, which without a limit could take all memory.
 */
export const recordValuesMax = 500_000;

const fatalText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });

/** Null when the bytes are not such a message. `isExact` is false when a text in it was not UTF-8. */
export function decodeMessage(type: MessageType, bytes: Uint8Array) {
  const reader = new MessageReader(bytes);
  const message = reader.read(type, bytes.length, {}, 0);
  return message === null ? null : { message, isExact: reader.isExact };
}

class MessageReader extends ProtoReader {
  isExact = true;
  /** Messages, and scalars in lists. */
  private values = 0;

  read(type: MessageType, end: number, into: Message, depth: number): Message | null {
    if (depth > depthMax || ++this.values > recordValuesMax) return null;
    while (this.next(end)) {
      const { start, to } = this;
      const field = type.byNumber.get(this.field);
      if (this.field === membersField && this.wire === wireType.bytes) into[unknownMembers] = this.text();
      else if (field === undefined || !this.take(type, field, into, depth)) {
        if (this.bad) return null;
        const before = into[unknownFields] as Uint8Array | undefined;
        const unknown = this.bytes.slice(start, to);
        into[unknownFields] = before === undefined ? unknown : Buffer.concat([before, unknown]);
      }
      this.pos = to;
    }
    return this.bad ? null : into;
  }

  /** False when the value is not of the field's type, which makes it an unknown field. */
  private take(type: MessageType, field: Field, into: Message, depth: number): boolean {
    const { name } = field;
    if (typeof field.type === "object") {
      if (this.wire !== wireType.bytes) return false;
      const known = field.isList ? undefined : (into[name] as Message | undefined);
      const value = this.read(field.type.message(), this.enter(), known ?? {}, depth + 1);
      if (value === null) {
        this.bad = true;
        return false;
      }
      set(type, field, into, value);
      return true;
    }
    const wire = wireOf(field.type);
    if (field.isList && wire !== wireType.bytes && this.wire === wireType.bytes)
      return this.takePacked(field.type, field, into);
    if (this.wire !== wire || (field.isList && this.isTooMuch())) return false;
    set(type, field, into, this.scalar(field.type));
    return true;
  }

  /** To be asked for each value of a list; sets `bad` when there are too many. */
  private isTooMuch(): boolean {
    this.bad = ++this.values > recordValuesMax;
    return this.bad;
  }

  private takePacked(type: ScalarType, field: Field, into: Message): boolean {
    const { to } = this;
    const isVarint = wireOf(type) === wireType.varint;
    const list = (into[field.name] as FieldValue[] | undefined) ?? [];
    for (let at = this.from; at < to; ) {
      this.from = at;
      if (this.isTooMuch()) return false;
      if (isVarint) {
        this.pos = at;
        if (!this.bareVarint(to)) return false;
        at = this.pos;
      } else {
        at += 8;
        if (at > to) {
          this.bad = true;
          return false;
        }
      }
      list.push(this.scalar(type));
    }
    into[field.name] = list;
    return true;
  }

  private scalar(type: ScalarType): FieldValue {
    const { view, from } = this;
    switch (type) {
      case "string":
        return this.text();
      case "bytes":
      case "id":
        return this.bytes.slice(from, this.to);
      case "bool":
        return this.low !== 0 || this.high !== 0;
      case "double":
        return view.getFloat64(from, true);
      case "uint32":
        return this.low;
      case "enum":
        return this.low | 0;
      case "sint32":
        return (this.low >>> 1) ^ -(this.low & 1);
      case "int64":
        return BigInt.asIntN(64, this.bigNumber());
      case "uint64":
        return this.bigNumber();
      case "fixed32":
        return view.getUint32(from, true);
      case "fixed64":
        return view.getBigUint64(from, true);
      case "sfixed64":
        return view.getBigInt64(from, true);
    }
  }

  private bigNumber(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  private text(): string {
    const part = this.bytes.subarray(this.from, this.to);
    try {
      return fatalText.decode(part);
    } catch {
      this.isExact = false;
      return lenientText.decode(part);
    }
  }
}

function set(type: MessageType, field: Field, into: Message, value: FieldValue): void {
  const { name } = field;
  if (field.isList) {
    const list = into[name] as FieldValue[] | undefined;
    if (list === undefined) into[name] = [value];
    else list.push(value);
    return;
  }
  if (type.choices.has(name)) for (const other of type.choices) if (other !== name) delete into[other];
  into[name] = value;
}

function wireOf(type: ScalarType): number {
  switch (type) {
    case "string":
    case "bytes":
    case "id":
      return wireType.bytes;
    case "double":
    case "fixed64":
    case "sfixed64":
      return wireType.eight;
    case "fixed32":
      return wireType.four;
    default:
      return wireType.varint;
  }
}

/** `expectedBytes`: about how large a large message will be, if that is known. */
export function encodeMessage(type: MessageType, message: Message, expectedBytes = 0): Uint8Array {
  const out = new ProtoWriter(expectedBytes);
  writeMessage(out, type, message);
  return out.finish();
}

export function writeMessage(out: ProtoWriter, type: MessageType, message: Message): void {
  for (const field of type.byNumber.values()) {
    const value = message[field.name];
    if (value !== undefined) writeField(out, type, field, value);
  }
  const members = message[unknownMembers];
  if (members !== undefined) out.text(membersField, members as string);
  const unknown = message[unknownFields];
  if (unknown !== undefined) out.raw(unknown as Uint8Array);
}

function writeField(out: ProtoWriter, type: MessageType, field: Field, value: FieldValue): void {
  const { number } = field;
  if (typeof field.type === "object") {
    const inner = field.type.message();
    for (const one of (field.isList ? value : [value]) as Message[])
      out.message(number, () => writeMessage(out, inner, one));
    return;
  }
  if (!field.isList) {
    if (type.explicit.has(field.name) || !isDefault(value)) scalarWriters[field.type](out, number, value);
    return;
  }
  const list = value as FieldValue[];
  if (list.length === 0) return;
  if (wireOf(field.type) === wireType.bytes) for (const one of list) scalarWriters[field.type](out, number, one);
  else
    out.packed(
      number,
      list as (bigint | number)[],
      plainWriters[field.type === "double" ? "double" : wirePlain(field.type)],
    );
}

const plainWriters = {
  double: (out: ProtoWriter, value: bigint | number) => out.plainDouble(value as number),
  fixed: (out: ProtoWriter, value: bigint | number) => out.plainFixed64(value as bigint),
  varint: (out: ProtoWriter, value: bigint | number) => out.bigVarint(BigInt(value)),
} as const;

function wirePlain(type: ScalarType): "fixed" | "varint" {
  return wireOf(type) === wireType.eight ? "fixed" : "varint";
}

function isDefault(value: FieldValue): boolean {
  if (value instanceof Uint8Array) return value.length === 0;
  // Minus zero is not the default: its sign bit is set.
  return value === "" || value === false || value === 0n || Object.is(value, 0);
}

type WriteScalar = (out: ProtoWriter, number: number, value: FieldValue) => void;

const writeBytes: WriteScalar = (out, number, value) => out.bytes(number, value as Uint8Array);
const writeVarint: WriteScalar = (out, number, value) => out.varint(number, BigInt(value as bigint | number));
const writeFixed64: WriteScalar = (out, number, value) => out.fixed64(number, value as bigint);

const scalarWriters: Readonly<Record<ScalarType, WriteScalar>> = {
  string: (out, number, value) => out.text(number, value as string),
  bytes: writeBytes,
  id: writeBytes,
  bool: (out, number, value) => out.smallVarint(number, value === true ? 1 : 0),
  double: (out, number, value) => out.double(number, value as number),
  uint32: (out, number, value) => out.smallVarint(number, (value as number) >>> 0),
  enum: writeVarint,
  sint32: (out, number, value) => out.smallVarint(number, (((value as number) << 1) ^ ((value as number) >> 31)) >>> 0),
  int64: writeVarint,
  uint64: writeVarint,
  fixed32: (out, number, value) => out.fixed32(number, value as number),
  fixed64: writeFixed64,
  sfixed64: writeFixed64,
};
