// JSON in which whole numbers that a double would round are BigInts.

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Throws what `JSON.parse` throws. */
export function parseExactly(text: string): unknown {
  const keep = (_: string, value: unknown, { source = "" }: { source?: string }): unknown =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

export function formatExactly(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? rawJSON(String(member)) : member));
}
