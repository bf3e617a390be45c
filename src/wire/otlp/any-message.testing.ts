// Messages of any content, made from the table of fields, so that no field is forgotten.

import fc from "fast-check";
import type { FieldValue, Message } from "./message.ts";
import type { Field, MessageType, ScalarType } from "./schema.ts";

const depthMax = 3;

/** `ids`: whether ids have the length that OTLP wants. */
export function anyMessage(type: MessageType, depth = 0): fc.Arbitrary<Message> {
  const fields = [...type.byName.values()].filter((field) => depth < depthMax || typeof field.type === "string");
  const model = Object.fromEntries(fields.map((field) => [field.name, anyField(field, depth)]));
  return fc.record(model, { requiredKeys: [] }).map((message) => {
    const chosen = Object.keys(message).filter((name) => type.choices.has(name));
    for (const name of chosen.slice(1)) delete message[name];
    return message as Message;
  });
}

function anyField({ type, isList }: Field, depth: number): fc.Arbitrary<FieldValue> {
  const one = typeof type === "string" ? anyScalar(type) : anyMessage(type.message(), depth + 1);
  return isList ? fc.array(one, { minLength: 1, maxLength: 3 }) : one;
}

function anyScalar(type: ScalarType): fc.Arbitrary<FieldValue> {
  switch (type) {
    case "string":
      return fc.string({ unit: "binary", maxLength: 12 });
    case "bool":
      return fc.boolean();
    case "double":
      return fc.double();
    case "id":
      return fc.uint8Array({ minLength: 1, maxLength: 16 });
    case "bytes":
      return fc.uint8Array({ maxLength: 8 });
    case "uint32":
    case "fixed32":
      return fc.nat(0xffff_ffff);
    case "enum":
      return fc.integer({ min: 0, max: 30 });
    case "sint32":
      return fc.integer();
    case "int64":
    case "sfixed64":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case "uint64":
    case "fixed64":
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  }
}
