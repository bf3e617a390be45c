// Changes of the small state as journal records: keys, edits, commands, audit lines. The record holds the
// rows themselves, so that folding it again gives the same state.

import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import type { JsonValue } from "#base/json/value.ts";
import { type StateChange, stateTables } from "#model/state-tables.ts";

export function encodeChanges(changes: readonly StateChange[]): Uint8Array {
  return new TextEncoder().encode(formatJson(changes as unknown as JsonValue, "lossless"));
}

/** Rows of tables or columns that this version does not know are left out. */
export function decodeChanges(body: Uint8Array): StateChange[] {
  const parsed = parseJson(body);
  if (!parsed.ok || !Array.isArray(parsed.value)) return [];
  return parsed.value.flatMap((entry) => {
    const { table, row } = entry as { table: string; row: Record<string, JsonValue> };
    if (!Object.hasOwn(stateTables, table)) return [];
    const columns = stateTables[table as keyof typeof stateTables] as Record<string, string>;
    const cells = Object.entries(columns).map(([name, type]) => [name, toCell(row[name], type)] as const);
    return [{ table, row: Object.fromEntries(cells) } as unknown as StateChange];
  });
}

function toCell(value: JsonValue | undefined, type: string): unknown {
  if (type.startsWith("Nullable(")) return value == null ? null : toCell(value, type.slice(9, -1));
  if (type === "Int64") return BigInt((value ?? 0) as number | bigint);
  if (type === "String" || type === "LowCardinality(String)") return (value ?? "") as string;
  return Number(value ?? 0);
}
