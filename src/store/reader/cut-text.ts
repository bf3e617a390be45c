// Large values in lists. A value may have many megabytes, and a page a thousand of them; what a list shows of one is its
// beginning, cut by the engine, with the size of the whole. The whole is read by itself, by its place in the journal.

/** What a list shows of one value, in bytes. */
export const shownBytesMax = 65_536;
/** The same where there are many cells a row. */
export const cellBytesMax = 4096;

/** The beginning of a text. A character that is cut in two is left out. */
export function cutText(sql: string, bytesMax: number = shownBytesMax): string {
  return `if(length(${sql}) > ${bytesMax}, ${headOf(sql, bytesMax)}, ${sql})`;
}

/** A JSON text, or when it is too long a JSON string that holds its beginning, so that it stays JSON. */
export function cutJson(sql: string, bytesMax: number = shownBytesMax): string {
  return `if(length(${sql}) > ${bytesMax}, toJSONString(concat(${headOf(sql, bytesMax)}, '…')), ${sql})`;
}

/** A JSON object beyond this is read without its large members. */
const objectBytesMax = 256 * 1024;
const memberBytesMax = 16 * 1024;
const membersMax = 1000;

/** A JSON object; when it is too long, its small members and those of the objects in it that are named. */
export function smallMembers(sql: string, inner: readonly string[] = []): string {
  const isInner = `p.1 IN (${["", ...inner].map((name) => `'${name}'`).join(", ")})`;
  const pairs = `arrayMap(p -> (p.1, if(${isInner}, ${joinMembers("JSONExtractKeysAndValuesRaw(p.2)")}, p.2)),
    JSONExtractKeysAndValuesRaw(${sql}))`;
  return `if(length(${sql}) <= ${objectBytesMax}, ${sql}, ${joinMembers(pairs)})`;
}

function joinMembers(pairs: string): string {
  const some = `arraySlice(arrayFilter(m -> length(m.2) <= ${memberBytesMax}, ${pairs}), 1, ${membersMax})`;
  return `concat('{', arrayStringConcat(arrayMap(m -> concat(toJSONString(m.1), ':', m.2), ${some}), ','), '}')`;
}

function headOf(sql: string, bytesMax: number): string {
  return `replaceRegexpOne(toValidUTF8(substring(${sql}, 1, ${bytesMax})), '\uFFFD$', '')`;
}
