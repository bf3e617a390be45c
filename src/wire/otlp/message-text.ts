// The JSON text of a message, written value by value with pauses: one record may have hundreds of thousands of values, or
// one of megabytes.

import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { formatLongText, TextGatherer, type Texts } from "#base/json/texts.ts";
import { isJsonObject } from "#base/json/value.ts";
import { scalarJson } from "./json-message.ts";
import { type FieldValue, type Message, unknownFields, unknownMembers } from "./message.ts";
import type { Field, MessageType } from "./schema.ts";

const pauseValues = 2048;
const longTextChars = 64 * 1024;

export interface MessageText {
  readonly text: Texts;
  /** False when something was left out: protobuf fields that OTLP does not have yet have no JSON form. */
  readonly isWhole: boolean;
}

export function* formatMessage(type: MessageType, message: Message): Generator<void, MessageText> {
  const writer = new MessageWriter();
  writer.open(type, message);
  for (let values = 1; writer.isOpen; values++) {
    if (values % pauseValues === 0) yield;
    const long = writer.writeNext();
    if (long !== null) writer.texts.add(yield* formatLongText(long));
  }
  return { text: writer.texts.finish(), isWhole: writer.isWhole };
}

/** A message of which some fields are written, or a list of which some items are. */
type Begun =
  | {
      readonly kind: "message";
      readonly type: MessageType;
      readonly message: Message;
      readonly names: string[];
      at: number;
    }
  | { readonly kind: "list"; readonly field: Field; readonly items: readonly FieldValue[]; at: number };

class MessageWriter {
  readonly texts = new TextGatherer();
  isWhole = true;
  /** The innermost last. */
  private readonly begun: Begun[] = [];

  get isOpen(): boolean {
    return this.begun.length > 0;
  }

  open(type: MessageType, message: Message): void {
    const names = Object.keys(message).filter((name) => type.byName.has(name));
    const others = otherMembers(type, message[unknownMembers] as string | undefined);
    if (message[unknownFields] !== undefined) this.isWhole = false;
    this.texts.add(others === "" || names.length === 0 ? `{${others}` : `{${others},`);
    this.begun.push({ kind: "message", type, message, names, at: 0 });
  }

  /** Writes the next field or item. A long text is returned instead, for the caller to write with pauses. */
  writeNext(): string | null {
    const begun = this.begun.at(-1) as Begun;
    const { at } = begun;
    if (at === (begun.kind === "list" ? begun.items : begun.names).length) {
      this.texts.add(begun.kind === "list" ? "]" : "}");
      this.begun.pop();
      return null;
    }
    begun.at++;
    if (at > 0) this.texts.add(",");
    return begun.kind === "list"
      ? this.writeValue(begun.field, begun.items[at] as FieldValue)
      : this.writeField(begun.type, begun.names[at] as string, begun.message);
  }

  private writeField(type: MessageType, name: string, message: Message): string | null {
    const value = message[name] as FieldValue;
    const field = type.byName.get(name) as Field;
    this.texts.add(`"${name}":`);
    if (!field.isList) return this.writeValue(field, value);
    this.texts.add("[");
    this.begun.push({ kind: "list", field, items: value as FieldValue[], at: 0 });
    return null;
  }

  private writeValue({ type }: Field, value: FieldValue): string | null {
    if (typeof type === "object") {
      this.open(type.message(), value as Message);
      return null;
    }
    const scalar = scalarJson(type, value);
    if (typeof scalar === "string" && scalar.length > longTextChars) return scalar;
    this.texts.add(formatJson(scalar, "strict"));
    return null;
  }
}

/** The members that came in JSON and that OTLP does not have yet. */
function otherMembers(type: MessageType, text: string | undefined): string {
  if (text === undefined) return "";
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return "";
  const others = Object.entries(parsed.value).filter(([name]) => !type.byName.has(name));
  return others.map(([name, value]) => `${JSON.stringify(name)}:${formatJson(value, "strict")}`).join(",");
}
