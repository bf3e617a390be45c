// The builders of JSON Schema that the contract is written with. Their types are TypeBox's; they do too little to load its
// hundreds of modules at every start.

import type TypeBox from "typebox";
import type { TObject, TObjectOptions, TProperties } from "typebox";

type Builders = Pick<
  typeof TypeBox,
  | "Array"
  | "Boolean"
  | "Integer"
  | "Literal"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "Record"
  | "String"
  | "Union"
  | "Unknown"
  | "Unsafe"
>;

type Schema = Readonly<Record<string, unknown>>;

/** Fields that may be absent: a schema does not say so itself, the object that has it does. */
const optional = new WeakSet<Schema>();

function toObject(properties: Readonly<Record<string, Schema>>, options: Schema = {}): Schema {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as Schema));
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
}

function toOptional(schema: Schema): Schema {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

const ofType =
  (type: string) =>
  (options: Schema = {}) => ({ type, ...options });

export const Type = {
  Array: (items: Schema, options: Schema = {}) => ({ type: "array", items, ...options }),
  Boolean: ofType("boolean"),
  Integer: ofType("integer"),
  Literal: (value: string | number | boolean) => ({ type: typeof value, const: value }),
  Null: ofType("null"),
  Number: ofType("number"),
  Object: toObject,
  Optional: toOptional,
  /** Of texts, which any key of an object is. */
  Record: (_key: Schema, value: Schema) => ({ type: "object", patternProperties: { "^.*$": value } }),
  String: ofType("string"),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => ({ anyOf, ...options }),
  Unknown: (options: Schema = {}) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
} as unknown as Builders;

/** What a caller sends: a field that is not known is refused, since a misspelt one would be left out without a word. */
export function strict<P extends TProperties>(properties: P, options: TObjectOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}
