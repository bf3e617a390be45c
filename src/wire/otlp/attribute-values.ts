// The attributes of a decoded message as JSON values, and back: the same text that `attributes.ts` writes, for records
// that are read whole.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { formatDouble, formatJson } from "#base/json/format.ts";
import { lookThrough } from "#base/json/look-through.ts";
import { longValueBytes } from "#base/json/passed-values.ts";
import { type JsonObject, type JsonValue, NumberText, setMember } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
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
    // A null stands for an empty value, not for a missing one.
    if (value.isOdd || hasUnknown(pair) || pair["value"] === undefined || Object.hasOwn(values, name)) isOdd = true;
    setMember(values, name, value.value);
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

export function formatAttributes({ values }: Attributes): string {
  return formatJson(values, "strict");
}

/** The list of attributes that a stored text, which we wrote, stands for. */
export function parseAttributes(text: string): Message[] {
  return atOnce(parseAttributesInSteps(text));
}

/** The same with pauses, for a text of many values or long ones. */
export function* parseAttributesInSteps(text: string): Generator<void, Message[]> {
  if (text === "" || text === "{}") return [];
  const { kvlistValue } = yield* parseValueInSteps(text);
  return (kvlistValue as Message)["values"] as Message[];
}

const pauseValues = 2048;

/** The AnyValue that a stored text stands for, with pauses. */
export function* parseValueInSteps(text: string): Generator<void, Message> {
  const bytes = textEncoder.encode(text);
  if (bytes.length > longValueBytes) {
    yield;
    yield* lookThrough(bytes);
  }
  const reader = new ValueReader(new JsonCursor(bytes));
  const whole = reader.readNext();
  for (let values = 1; reader.isOpen; values++) {
    if (values % pauseValues === 0) yield;
    reader.readNext();
  }
  return whole;
}

/** Reads value by value, so that it can stop after each. */
class ValueReader {
  private readonly cursor: JsonCursor;
  /** The lists and objects that are open, the innermost last. */
  private readonly begun: { readonly isObject: boolean; readonly values: Message[] }[] = [];

  constructor(cursor: JsonCursor) {
    this.cursor = cursor;
  }

  get isOpen(): boolean {
    return this.begun.length > 0;
  }

  /** Returns a list or object before its values are read. */
  readNext(): Message {
    const { cursor } = this;
    const around = this.begun.at(-1);
    const key = around?.isObject === true ? cursor.text() : null;
    const kind = cursor.peek();
    const value = kind === jsonKind.object || kind === jsonKind.array ? this.begin(kind) : this.readScalar(kind);
    around?.values.push(key === null ? value : { key, value });
    // Closes everything that ends here.
    if (this.begun.at(-1) === around) while (this.isOpen && !this.goOn()) this.begun.pop();
    return value;
  }

  private begin(kind: number): Message {
    const { cursor } = this;
    const values: Message[] = [];
    const isObject = kind === jsonKind.object;
    if (isObject ? cursor.openObject() : cursor.openArray()) this.begun.push({ isObject, values });
    return isObject ? { kvlistValue: { values } } : { arrayValue: { values } };
  }

  private goOn(): boolean {
    return this.begun.at(-1)?.isObject === true ? this.cursor.nextMember() : this.cursor.nextItem();
  }

  private readScalar(kind: number): Message {
    const { cursor } = this;
    switch (kind) {
      case jsonKind.string:
        cursor.readString();
        return { stringValue: cursor.text() };
      case jsonKind.true:
      case jsonKind.false:
        return { boolValue: cursor.readBoolean() };
      case jsonKind.number: {
        cursor.readNumber();
        const value = cursor.number();
        if (cursor.form === numberForm.integer && !(value instanceof NumberText)) return { intValue: BigInt(value) };
        return { doubleValue: value instanceof NumberText ? Number(value.text) : Number(value) };
      }
      default:
        cursor.readNull();
        return {};
    }
  }
}

const textEncoder = new TextEncoder();
