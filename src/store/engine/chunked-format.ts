// chDB formats each chunk of a streamed answer as if it were the whole: a format with a header repeats it in every
// chunk, and a format with a frame (Parquet, Arrow, pretty tables) makes one file of each. Repeated headers are removed
// here; framed formats are not streamed.

/** How many header lines a format has, for those that are streamed. */
const headerLines: ReadonlyMap<string, number> = new Map([
  ["Native", 0],
  ["JSONCompactEachRowWithNamesAndTypes", 2],
]);

export function canStream(format: string): boolean {
  return headerLines.has(format);
}

/** Keeps the header of the first chunk only. All chunks of an answer have the same one. */
export class HeaderOnce {
  private readonly lines: number;
  private headerBytes = 0;

  constructor(format: string) {
    this.lines = headerLines.get(format) ?? 0;
  }

  take(chunk: Uint8Array): Uint8Array {
    if (this.headerBytes > 0) return chunk.subarray(this.headerBytes);
    for (let line = 0; line < this.lines; line++) this.headerBytes = chunk.indexOf(10, this.headerBytes) + 1;
    return chunk;
  }
}
