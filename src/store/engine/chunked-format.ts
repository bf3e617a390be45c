// chDB formats each chunk of a streamed answer as if it were the whole: a format with a header repeats it in every
// chunk, and a format with a frame (Parquet, Arrow, pretty tables) makes one file of each. Headers are taken out
// again here; framed formats are not streamed.

/** How many header lines a format has, for those whose chunks can be joined. */
const headerLines: ReadonlyMap<string, number> = new Map([
  ["Null", 0],
  ["Native", 0],
  ["RowBinary", 0],
  ["CSV", 0],
  ["CSVWithNames", 1],
  ["CSVWithNamesAndTypes", 2],
  ["TabSeparated", 0],
  ["TabSeparatedWithNames", 1],
  ["TabSeparatedWithNamesAndTypes", 2],
  ["JSONEachRow", 0],
  ["JSONCompactEachRow", 0],
  ["JSONCompactEachRowWithNames", 1],
  ["JSONCompactEachRowWithNamesAndTypes", 2],
]);

export function canStream(format: string): boolean {
  return headerLines.has(format);
}

/** Keeps the header of the first chunk only. All chunks of an answer have the same one. */
export class HeaderOnce {
  private readonly lines: number;
  private readonly quoted: boolean;
  private headerBytes = -1;

  constructor(format: string) {
    this.lines = headerLines.get(format) ?? 0;
    this.quoted = format.startsWith("CSV");
  }

  take(chunk: Uint8Array): Uint8Array {
    if (this.lines === 0 || chunk.length === 0) return chunk;
    if (this.headerBytes >= 0) return chunk.subarray(this.headerBytes);
    this.headerBytes = this.measure(chunk);
    return chunk;
  }

  private measure(chunk: Uint8Array): number {
    let lines = 0;
    let inQuotes = false;
    for (let at = 0; at < chunk.length; at++) {
      if (this.quoted && chunk[at] === 34) inQuotes = !inQuotes;
      else if (chunk[at] === 10 && !inQuotes && ++lines === this.lines) return at + 1;
    }
    return chunk.length;
  }
}
