// What the attributes of a span say of a call to a language model.

import { modelCallAttributes } from "#model/otel-attributes.ts";
import { formatCount } from "../../text/format-number.ts";

/** Names and values in the order in which people read them; none for a span that is no such call. */
export function toModelCall(attrs: string): [string, string][] {
  if (!attrs.includes('"gen_ai.')) return [];
  const values = JSON.parse(attrs) as Record<string, unknown>;
  return Object.entries(modelCallAttributes).flatMap(([name, keys]): [string, string][] => {
    const value = keys.map((key) => values[key]).find((each) => each !== undefined && each !== "");
    if (value === undefined) return [];
    return [[name.replace("_", " "), typeof value === "number" ? formatCount(value) : String(value)]];
  });
}
