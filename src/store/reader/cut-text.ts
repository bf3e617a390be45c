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

function headOf(sql: string, bytesMax: number): string {
  return `replaceRegexpOne(toValidUTF8(substring(${sql}, 1, ${bytesMax})), '\uFFFD$', '')`;
}
