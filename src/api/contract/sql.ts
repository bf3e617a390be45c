// Read-only ClickHouse SQL over the documented tables.

import type { Static } from "typebox";
import { word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export const SqlBody = strict({
  query: Type.String({ minLength: 1, maxLength: 65536 }),
  /** `json` is the answer below; the others are the file itself. */
  format: Type.Optional(word(["json", "csv", "parquet"])),
  /** Rows to return, all up to `sql.rows` when absent; what is cut off is said in `truncated`. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000000 })),
});

export const SqlColumn = Type.Object({ name: Type.String(), type: Type.String() });

export const SqlAnswer = Type.Object({
  columns: Type.Array(SqlColumn),
  /** Scalars by the rules of `scalar.ts`. */
  rows: Type.Array(Type.Array(Type.Unknown())),
  truncated: Type.Boolean(),
  elapsed_ms: Type.Number(),
});
export type SqlAnswer = Static<typeof SqlAnswer>;

export const SqlSchemaAnswer = Type.Object({
  tables: Type.Array(Type.Object({ name: Type.String(), means: Type.String(), columns: Type.Array(SqlColumn) })),
  functions: Type.Array(Type.String()),
});
export type SqlSchemaAnswer = Static<typeof SqlSchemaAnswer>;
