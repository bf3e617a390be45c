// The scalars every answer is made of, and the rules that hold for all of them:
//   an integer column of 64 bits is a decimal string, whatever its value (`Int64`);
//   a float is a number, and the words "NaN", "Infinity", "-Infinity" when it is not finite (`Float`);
//   counts, indexes and pixel sizes are plain numbers, they stay far below 2^53 (`Count`);
//   times are nanoseconds since the epoch (`Int64`), durations are nanoseconds;
//   JSON sent by a user comes back as its strict JSON text (`JsonText`), so that no reader can round it.

import type { Static, TSchema, TUnsafe } from "typebox";
import { Type } from "./schema.ts";

export const Int64 = Type.String({ pattern: "^-?[0-9]{1,20}$", description: "A 64-bit integer in decimal." });

export const TimeNs = Type.String({ pattern: "^-?[0-9]{1,20}$", description: "Nanoseconds since the epoch." });

export const Float = Type.Union([
  Type.Number(),
  Type.Literal("NaN"),
  Type.Literal("Infinity"),
  Type.Literal("-Infinity"),
]);
export type Float = Static<typeof Float>;

export function toFloat(value: number): Float {
  return Number.isFinite(value) ? value : (String(value) as Float);
}

export const Count = Type.Integer({ minimum: 0 });

export const JsonText = Type.String({ description: "Strict JSON text of a value as the client sent it." });

export const AsOf = Type.String({
  description:
    "The journal position this answer includes, `<collector>-<position>`, or a list of these; pass it to `live?after=`.",
});

/** Where the next page starts: opaque, stable under inserts. Null on the last page. */
export const NextCursor = Type.Union([Type.String(), Type.Null()]);

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A word out of a fixed list. */
export function word<const W extends string>(words: readonly W[]) {
  return Type.Unsafe<W>({ type: "string", enum: [...words] });
}

/** The words that a schema made by `word` allows. */
export function wordsOf<W extends string>(schema: TUnsafe<W>): W[] {
  return [...(schema as unknown as { readonly enum: readonly W[] }).enum];
}

/** In a query string a list is the parameter repeated: `run=a&run=b`. */
export function repeated<T extends TSchema>(schema: T, maxItems: number) {
  return Type.Array(schema, { maxItems });
}

export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "Rows per page; default 100." })),
  cursor: Type.Optional(Type.String({ maxLength: 4096, description: "`next` of the previous page." })),
};

/** A time window; each end may be absent. The start is included, the end is not. */
export const WindowQuery = {
  from_ns: Type.Optional(TimeNs),
  to_ns: Type.Optional(TimeNs),
};

export const RunPath = Type.Object({ id: Type.String({ minLength: 1, description: "Run id or any of its aliases." }) });

/** The answer of a request that has nothing to tell but that it was done. */
export const Done = Type.Object({ done: Type.Literal(true), as_of: Type.Optional(AsOf) });
