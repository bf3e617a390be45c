// JSON that a person typed and that is sent on: every number keeps the digits it was typed with.

/** A runtime without it makes doubles of the numbers. */
interface Raw {
  readonly rawJSON?: (text: string) => unknown;
}

/** Throws what `JSON.parse` throws. The result is for `JSON.stringify`. */
export function parseTyped(text: string): unknown {
  const { rawJSON } = JSON as Raw;
  const keep = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === "number" && rawJSON !== undefined && source !== undefined ? rawJSON(source) : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}
