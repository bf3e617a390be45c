// Answers that hold floats as a client sent them.

import { formatJson } from "#base/json/format.ts";
import { formatInSteps } from "#base/json/format-in-steps.ts";
import type { JsonValue } from "#base/json/value.ts";
import { inTurns } from "#base/turns.ts";
import { JsonBody } from "./handler.ts";

/** Our own text of an answer: JSON.stringify would write a negative zero without its sign. */
export async function toExactJson<A extends object>(answer: A): Promise<JsonBody> {
  return new JsonBody(await inTurns(formatInSteps(answer, (part) => formatJson(part as JsonValue, "strict"))));
}
