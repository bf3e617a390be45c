// The attributes of a decoded message as JSON values, and back: the same text that `attributes.ts` writes, for records
// that are read whole.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { formatJson } from "#base/json/format.ts";
import { parseNumber } from "#base/json/number.ts";
import { decodeText } from "#base/json/text.ts";
import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";
import { formatDouble } from "./attributes.ts";
import { type FieldValue, type Message, unknownFields, unknownMembers } from "./message.ts";

export interface Attributes {
  readonly values: JsonObject;
  /** The values alone do not give the message back. */
  readonly isOdd: boolean;
}

export const noAttributes: Attributes = { values: {}, isOdd: false };

export function toAttributes(list: FieldValue | undefined): Attributes {
  if (list === undefined) return noAttributes;
  const values: JsonObject = {};
  let isOdd = false;
  for (const pair of list as Message[]) {
    const name = (pair["key"] ?? "") as string;
    const value = toValue(pair["value"] as Message | undefined);
    // A null stands for a value that says nothing, not for none.
    if (value.isOdd || hasUnknown(pair) || pair["value"] === undefined || Object.hasOwn(values, name)) isOdd = true;
    define(values, name, value.value);
  }
  return { values, isOdd };
}

export function toValue(any: Message | undefined): { readonly value: JsonValue; readonly isOdd: boolean } {
  if (any === undefined) return { value: null, isOdd: false };
  const isOdd = hasUnknown(any);
  const [name] = Object.keys(any).filter((key) => key !== unknownFields && key !== unknownMembers);
  const value = name === undefined ? null : (any[name] as FieldValue);
  switch (name) {
    case "stringValue":
    case "boolValue":
      return { value: value as string | boolean, isOdd };
    case "intValue":
      return { value: toSmallest(value as bigint), isOdd };
    case "doubleValue":
      return toDoubleValue(value as number, isOdd);
    case "bytesValue":
      return { value: Buffer.from(value as Uint8Array).toString("base64"), isOdd: true };
    case "arrayValue": {
      const items = (((value as Message)["values"] ?? []) as Message[]).map(toValue);
      return {
        value: items.map((item) => item.value),
        isOdd: isOdd || hasUnknown(value as Message) || items.some((item) => item.isOdd),
      };
    }
    case "kvlistValue": {
      const inner = toAttributes((value as Message)["values"]);
      return { value: inner.values, isOdd: isOdd || hasUnknown(value as Message) || inner.isOdd };
    }
    default:
      return { value: null, isOdd };
  }
}

function toDoubleValue(value: number, isOdd: boolean): { readonly value: JsonValue; readonly isOdd: boolean } {
  if (!Number.isFinite(value)) return { value: String(value), isOdd: true };
  return { value: new NumberText(formatDouble(value)), isOdd };
}

function toSmallest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function hasUnknown(message: Message): boolean {
  return message[unknownFields] !== undefined || message[unknownMembers] !== undefined;
}

/** Plain assignment to `__proto__` would set the prototype. */
function define(object: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

export function formatAttributes({ values }: Attributes): string {
  return formatJson(values, "strict");
}

/** The list of attributes that a stored text stands for. The text is one of ours. */
export function parseAttributes(text: string): Message[] {
  if (text === "" || text === "{}") return [];
  return readMembers(new JsonCursor(Buffer.from(text)));
}

/** The AnyValue that a stored text stands for. */
export function parseValue(text: string): Message {
  return readValue(new JsonCursor(Buffer.from(text)));
}

function readMembers(cursor: JsonCursor): Message[] {
  const list: Message[] = [];
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const key = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    list.push({ key, value: readValue(cursor) });
  }
  return list;
}

function readValue(cursor: JsonCursor): Message {
  const kind = cursor.peek();
  switch (kind) {
    case jsonKind.object:
      return { kvlistValue: { values: readMembers(cursor) } };
    case jsonKind.array: {
      const values: Message[] = [];
      for (let more = cursor.openArray(); more; more = cursor.nextItem()) values.push(readValue(cursor));
      return { arrayValue: { values } };
    }
    case jsonKind.string:
      cursor.readString();
      return { stringValue: decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide) };
    case jsonKind.true:
    case jsonKind.false:
      return { boolValue: cursor.readBoolean() };
    case jsonKind.number: {
      cursor.readNumber();
      const { bytes, start, stop, form } = cursor;
      const value = parseNumber(bytes, start, stop, form);
      if (form === numberForm.integer && !(value instanceof NumberText)) return { intValue: BigInt(value) };
      return { doubleValue: value instanceof NumberText ? Number(value.text) : Number(value) };
    }
    default:
      cursor.readNull();
      return {};
  }
}
