// Messages from and to the JSON form of OTLP: lowerCamelCase names, ids in hex of any case, other bytes in base64,
// 64-bit integers as text or number, enums as integers, NaN and the infinities as words.

import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject, type JsonObject, type JsonValue, NumberText, setMember } from "#base/json/value.ts";
import { depthMax, type FieldValue, type Message, unknownFields, unknownMembers } from "./message.ts";
import type { Field, MessageType, ScalarType } from "./schema.ts";

/** What is wrong with a JSON value, and where. */
export class NotMessage extends Error {
  readonly pointer: string;

  constructor(reason: string, pointer: string) {
    super(reason);
    this.pointer = pointer;
  }
}

/** Throws NotMessage, which the reader of the record turns into a fault. */
export function fromJson(type: MessageType, value: JsonValue, pointer = "", depth = 0): Message {
  if (depth > depthMax) throw new NotMessage(`is nested deeper than ${depthMax} levels`, pointer);
  if (!isJsonObject(value)) throw new NotMessage("is no object", pointer);
  const message: Message = {};
  let unknown: JsonObject | null = null;
  let chosen = "";
  for (const name of Object.keys(value)) {
    const member = value[name] as JsonValue;
    const field = type.byName.get(name);
    if (field === undefined) {
      unknown ??= {};
      setMember(unknown, name, member);
      continue;
    }
    // In this form of JSON a null stands for a field that is not there.
    if (member === null) continue;
    message[name] = toField(field, member, `${pointer}/${name}`, depth);
    if (!type.choices.has(name)) continue;
    if (chosen !== "") throw new NotMessage(`has both ${chosen} and ${name}`, pointer);
    chosen = name;
  }
  if (unknown !== null) message[unknownMembers] = toText(formatJson(unknown, "lossless"), pointer);
  return message;
}

function toField({ type, isList }: Field, value: JsonValue, pointer: string, depth: number): FieldValue {
  const one = (item: JsonValue, at: string): FieldValue =>
    typeof type === "object" ? fromJson(type.message(), item, at, depth + 1) : toScalar(type, item, at);
  if (!isList) return one(value, pointer);
  if (!Array.isArray(value)) throw new NotMessage("is no list", pointer);
  return value.map((item, at) => one(item, `${pointer}/${at}`));
}

function toScalar(type: ScalarType, value: JsonValue, pointer: string): FieldValue {
  switch (type) {
    case "string":
      if (typeof value !== "string") throw new NotMessage("is no text", pointer);
      return toText(value, pointer);
    case "bool":
      if (typeof value !== "boolean") throw new NotMessage("is neither true nor false", pointer);
      return value;
    case "double":
      return toDouble(value, pointer);
    case "id":
      return toId(value, pointer);
    case "bytes":
      if (typeof value !== "string" || !base64.test(value)) throw new NotMessage("is no base64", pointer);
      return new Uint8Array(Buffer.from(value, "base64"));
    case "uint32":
    case "fixed32":
      return Number(toInteger(value, 0n, 0xffff_ffffn, pointer));
    case "enum":
    case "sint32":
      return Number(toInteger(value, -0x8000_0000n, 0x7fff_ffffn, pointer));
    case "int64":
    case "sfixed64":
      return toInteger(value, int64Min, int64Max, pointer);
    case "uint64":
    case "fixed64":
      return toInteger(value, 0n, uint64Max, pointer);
  }
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;
const uint64Max = 2n ** 64n - 1n;
const base64 = /^[\w+/-]*={0,2}$/;
const integer = /^-?\d{1,20}$/;
const decimal = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const doubleWords: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

/** Protobuf's text is Unicode: it cannot hold half of a surrogate pair. */
function toText(value: string, pointer: string): string {
  if (!value.isWellFormed()) throw new NotMessage("has half of a surrogate pair", pointer);
  return value;
}

function toDouble(value: JsonValue, pointer: string): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof NumberText) return Number(value.text);
  if (typeof value === "string" && Object.hasOwn(doubleWords, value)) return doubleWords[value] as number;
  if (typeof value === "string" && decimal.test(value)) return Number(value);
  throw new NotMessage("is no number", pointer);
}

function toInteger(value: JsonValue, min: bigint, max: bigint, pointer: string): bigint {
  const number =
    typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))
      ? BigInt(value)
      : typeof value === "string" && integer.test(value)
        ? BigInt(value)
        : value instanceof NumberText
          ? // 21 characters are out of any range as well, and millions of digits would take seconds.
            BigInt(value.text.slice(0, 21))
          : null;
  if (number === null) throw new NotMessage("is no whole number", pointer);
  if (number < min || number > max) throw new NotMessage(`is not between ${min} and ${max}`, pointer);
  return number;
}

function toId(value: JsonValue, pointer: string): Uint8Array {
  if (typeof value !== "string" || !/^(?:[0-9a-fA-F]{2})*$/.test(value)) throw new NotMessage("is no hex", pointer);
  return new Uint8Array(Buffer.from(value, "hex"));
}

/** Protobuf fields that OTLP does not have yet have no JSON form and are left out. */
export function toJson(type: MessageType, message: Message): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(message)) {
    if (name === unknownFields) continue;
    if (name === unknownMembers) {
      const parsed = parseJson(value as string);
      if (!parsed.ok || !isJsonObject(parsed.value)) continue;
      for (const [key, member] of Object.entries(parsed.value)) setMember(object, key, member);
      continue;
    }
    const field = type.byName.get(name) as Field;
    object[name] = field.isList ? (value as FieldValue[]).map((one) => fieldJson(field, one)) : fieldJson(field, value);
  }
  return object;
}

function fieldJson({ type }: Field, value: FieldValue): JsonValue {
  return typeof type === "object" ? toJson(type.message(), value as Message) : scalarJson(type, value);
}

export function scalarJson(type: ScalarType, value: FieldValue): JsonValue {
  if (type === "id") return Buffer.from(value as Uint8Array).toString("hex");
  if (type === "bytes") return Buffer.from(value as Uint8Array).toString("base64");
  return typeof value === "bigint" ? value.toString() : (value as string | number | boolean);
}
