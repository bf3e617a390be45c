// Answers that hold floats as a client sent them.

import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";
import { JsonBody } from "./handler.ts";

/** Our own text of an answer: JSON.stringify would write a negative zero without its sign. */
export function toExactJson<A extends object>(answer: A): JsonBody {
  return new JsonBody(formatJson(answer as unknown as JsonValue, "strict"));
}
