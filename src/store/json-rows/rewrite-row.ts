// One row of the engine's JSON, rewritten: floats that are not numbers get their words. The row is `[v, v, …]` as the engine
// writes it, so it is not checked here.

import { endOfValue } from "#base/json/end-of-value.ts";
import type { ByteSink } from "#store/native/byte-sink.ts";
import type { TypeShape } from "./type-shape.ts";

const quote = 34;
const comma = 44;
const openList = 91;
const closeList = 93;
const openObject = 123;
const closeObject = 125;
const blank = 32;

const plain: TypeShape = { kind: "plain" };

/** Longest growth: `"inf"` to `"Infinity"` is 5 more bytes for 5. */
const growth = 2;

export class RowRewriter {
  private readonly shapes: readonly TypeShape[];
  private source: Uint8Array = new Uint8Array(0);
  private at = 0;
  private sink: ByteSink;

  constructor(sink: ByteSink, shapes: readonly TypeShape[]) {
    this.sink = sink;
    this.shapes = shapes;
  }

  /** Writes the row that starts at `start` and ends before `end`, without its line break. */
  rewrite(source: Uint8Array, start: number, end: number): void {
    this.source = source;
    this.at = start + 1;
    const { sink } = this;
    sink.reserve((end - start) * growth + 16);
    sink.writeByte(openList);
    for (let column = 0; column < this.shapes.length; column++) {
      this.skipBlanks();
      if (column > 0) sink.writeByte(comma);
      this.value(this.shapes[column] as TypeShape);
      this.skipBlanks();
      this.at++;
    }
    sink.writeByte(closeList);
  }

  private skipBlanks(): void {
    while (this.source[this.at] === blank) this.at++;
  }

  private value(shape: TypeShape): void {
    const first = this.source[this.at];
    if (shape.kind === "float" && first === quote) this.word();
    else if (shape.kind === "list" && first === openList) this.nested(shape.items, closeList, false);
    else if (shape.kind === "list" && first === openObject) this.nested(shape.items, closeObject, true);
    else if (shape.kind === "object" && first === openObject) this.nested(shape.items, closeObject, true);
    else if (shape.kind === "object" && first === openList) this.nested(shape.items, closeList, false);
    else this.copyValue();
  }

  private nested(items: readonly TypeShape[], close: number, keyed: boolean): void {
    this.copyByte();
    this.skipBlanks();
    for (let index = 0; this.source[this.at] !== close; index++) {
      if (keyed) {
        this.copyValue();
        this.skipBlanks();
        this.copyByte(); // the colon
        this.skipBlanks();
      }
      this.value(items[Math.min(index, items.length - 1)] ?? plain);
      this.skipBlanks();
      if (this.source[this.at] === comma) this.copyByte();
      this.skipBlanks();
    }
    this.copyByte();
  }

  /** `"nan"`, `"-nan"`, `"inf"` or `"-inf"`. */
  private word(): void {
    let at = this.at + 1;
    const negative = this.source[at] === 45;
    if (negative) at++;
    const isNan = this.source[at] === 110;
    this.sink.writeBytes(isNan ? words.nan : negative ? words.negative : words.positive);
    this.at = at + 4;
  }

  private copyByte(): void {
    this.sink.writeByte(this.source[this.at++] as number);
  }

  private copyValue(): void {
    const start = this.at;
    this.at = endOfValue(this.source, start);
    this.sink.writeBytes(this.source.subarray(start, this.at));
  }
}

const textEncoder = new TextEncoder();
const words = {
  nan: textEncoder.encode('"NaN"'),
  positive: textEncoder.encode('"Infinity"'),
  negative: textEncoder.encode('"-Infinity"'),
};
