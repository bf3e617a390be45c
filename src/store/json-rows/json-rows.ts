// One pass over the engine's answer that gives floats their words: `"NaN"`, `"Infinity"`, `"-Infinity"` where the
// engine writes "nan", "inf", "-inf". A text that happens to be "nan" stays as it is, so the pass must know the
// columns' types: it reads the format JSONCompactEachRowWithNamesAndTypes, whose first two lines say them.
//
// A line break is never inside a JSON string, so rows are found without parsing, and only rows that hold one of
// the engine's words are looked at more closely; everything else passes through as the bytes it is.

import { ByteSink } from "#store/native/byte-sink.ts";
import { StoreOutage } from "#store/outage.ts";
import { RowRewriter } from "./rewrite-row.ts";
import { type TypeShape, toShape } from "./type-shape.ts";

export interface Header {
  readonly names: readonly string[];
  readonly types: readonly string[];
}

const newline = 10;

/** More than the largest value that a record may have. */
const rowBytesMaxUsual = 128 * 1024 * 1024;
/** The limit for SQL that people write. A row is processed in one go, and they can ask for a part of it. */
export const guestRowBytesMax: number = 32 * 1024 * 1024;

export class JsonRows {
  header: Header | null = null;
  private readonly rowBytesMax: number;
  /** The beginning of a row that has not ended, in pieces that are joined only when it has. */
  private held: Buffer[] = [];
  private heldBytes = 0;
  private names: readonly string[] | null = null;
  private hasFloats = false;
  private rewriter: RowRewriter | null = null;
  private sink = new ByteSink(0);

  constructor(rowBytesMax: number = rowBytesMaxUsual) {
    this.rowBytesMax = rowBytesMax;
  }

  /** Whole rows only; what follows the last line break waits for the next chunk. */
  push(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const end = bytes.lastIndexOf(newline) + 1;
    const ended = bytes.subarray(0, end);
    const all = end === 0 || this.held.length === 0 ? ended : Buffer.concat([...this.held, ended]);
    if (end > 0) {
      this.held = [];
      this.heldBytes = 0;
    }
    if (end < bytes.length) this.hold(bytes.subarray(end));
    let start = 0;
    while (this.header === null && start < all.length) start = this.readHeaderLine(all, start);
    const rows = all.subarray(start);
    return this.hasFloats ? this.rewrite(rows) : rows;
  }

  private hold(bytes: Buffer): void {
    this.held.push(Buffer.from(bytes));
    this.heldBytes += bytes.length;
    if (this.heldBytes > this.rowBytesMax)
      throw new StoreOutage("too_large", `A row of the answer has more than ${this.rowBytesMax} bytes.`);
  }

  private readHeaderLine(bytes: Buffer, start: number): number {
    const end = bytes.indexOf(newline, start);
    const line = JSON.parse(bytes.toString("utf8", start, end)) as string[];
    if (this.names === null) this.names = line;
    else this.readTypes(this.names, line);
    return end + 1;
  }

  private readTypes(names: readonly string[], types: readonly string[]): void {
    const shapes: TypeShape[] = types.map(toShape);
    this.header = { names, types };
    this.hasFloats = shapes.some((shape) => shape.kind !== "plain");
    this.rewriter = new RowRewriter(this.sink, shapes);
  }

  private rewrite(bytes: Buffer): Uint8Array {
    const next = wordFinder(bytes);
    let hit = next(0);
    if (hit < 0) return bytes;
    const { sink } = this;
    // The reader keeps the bytes of a chunk, so each chunk gets a buffer of its own.
    sink.bytes = new Uint8Array(bytes.length + 64);
    sink.length = 0;
    let copied = 0;
    while (hit >= 0) {
      const start = bytes.lastIndexOf(newline, hit) + 1;
      const end = bytes.indexOf(newline, hit);
      sink.reserve(start - copied);
      sink.writeBytes(bytes.subarray(copied, start));
      this.rewriter?.rewrite(bytes, start, end);
      copied = end;
      hit = next(end);
    }
    sink.reserve(bytes.length - copied);
    sink.writeBytes(bytes.subarray(copied));
    return sink.finish();
  }
}

/** Finds the next `nan"` or `inf"` from a place on, -1 for none; it may still be the end of a text. Each of the two
 * is searched again only once it is passed, so that many of one kind do not make a search for the other quadratic. */
function wordFinder(bytes: Buffer): (from: number) => number {
  const endings = ['nan"', 'inf"'];
  const found = endings.map((ending) => bytes.indexOf(ending));
  return (from) => {
    let nearest = -1;
    for (const [i, ending] of endings.entries()) {
      const known = found[i] as number;
      const at = known >= 0 && known < from ? bytes.indexOf(ending, from) : known;
      found[i] = at;
      if (at >= 0 && (nearest < 0 || at < nearest)) nearest = at;
    }
    return nearest;
  };
}
