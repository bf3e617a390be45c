import TypeBox from "typebox";
import { expect, it } from "vitest";
import { Type } from "./schema.ts";

/** Written with each in turn. */
function build(T: typeof Type) {
  return T.Object(
    {
      text: T.String({ minLength: 1, description: "A text." }),
      none: T.Null(),
      list: T.Array(T.Integer({ minimum: 0 }), { maxItems: 3 }),
      word: T.Unsafe<"a">({ type: "string", enum: ["a"] }),
      maybe: T.Optional(T.Union([T.Number(), T.Literal("NaN"), T.Literal(true), T.Literal(1)])),
      by: T.Record(T.String(), T.Unknown()),
      inner: T.Optional(T.Object({ flag: T.Optional(T.Boolean()) })),
      any: T.Unknown({ description: "Anything." }),
    },
    { additionalProperties: false },
  );
}

it("makes the schemas that TypeBox makes, in the same words and order", () => {
  expect(JSON.stringify(build(Type))).toBe(JSON.stringify(build(TypeBox)));
});

it("leaves a schema required that is optional elsewhere", () => {
  const text = Type.String();
  expect(Type.Object({ one: Type.Optional(text), two: text })).toMatchObject({ required: ["two"] });
});
