// Any value of a user's program → a value the trace can hold.

import { type Maker, readValue } from "#emit/read-value.ts";
import { PythonFloat, type PythonValue } from "#wire/semantiva/python-json.ts";

const toPython: Maker<PythonValue> = {
  scalar: (value) => value,
  items: (items) => items,
  fields: (names, values) => Object.fromEntries(names.map((name, at) => [name, values[at] as PythonValue])),
  known: (value) => (value instanceof PythonFloat ? value : undefined),
};

export function toTraceValue(value: unknown): PythonValue {
  return readValue(value, toPython);
}

export function toTraceObject(value: object): { [key: string]: PythonValue } {
  const converted = toTraceValue(value);
  const isObject = typeof converted === "object" && converted !== null && !Array.isArray(converted);
  return isObject ? (converted as { [key: string]: PythonValue }) : {};
}
