// Marks between two flushes, as columns of fixed size: a mark is a few stores, no object.

import type { ByteWriter } from "#base/byte-writer.ts";
import { formatFloat, quote } from "#emit/json-text.ts";
import type { MarkKind, MarkType } from "#wire/cirron/encode.ts";
import { encodeMarkHead, encodeMarkTail, markCounterOffset } from "#wire/cirron/encode.ts";
import { noAttributes } from "./attributes.ts";
import { toNanos, toSeconds } from "./clock.ts";
import { markIds, spanIds } from "./ids.ts";

export const typeFloat = 0;
export const typeInt = 1;
export const typeString = 2;
export const typeBool = 3;
const summaryBit = 4;
const commaByte = 0x2c;
const types: readonly MarkType[] = ["float", "int", "string", "bool"];

export class MarkRows {
  readonly capacity: number;
  count = 0;
  private readonly ids: Float64Array;
  private readonly spans: Float64Array;
  private readonly times: Float64Array;
  private readonly numbers: Float64Array;
  private readonly flags: Uint8Array;
  private readonly names: string[];
  private readonly texts: (string | null)[];
  private readonly attrs: string[];

  constructor(capacity: number) {
    this.capacity = capacity;
    this.ids = new Float64Array(capacity);
    this.spans = new Float64Array(capacity);
    this.times = new Float64Array(capacity);
    this.numbers = new Float64Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.names = new Array<string>(capacity).fill("");
    this.texts = new Array<string | null>(capacity).fill(null);
    this.attrs = new Array<string>(capacity).fill(noAttributes);
  }

  /** `spanCounter` 0 is the document's "root". Returns the mark's counter; the caller checks the capacity. */
  push(
    spanCounter: number,
    name: string,
    type: number,
    value: number,
    text: string | null,
    attrs: string,
    timeNs: number,
    kind: MarkKind | undefined,
  ): number {
    const row = this.count++;
    const id = markIds.next();
    this.ids[row] = id;
    this.spans[row] = spanCounter;
    this.times[row] = timeNs;
    this.numbers[row] = value;
    this.flags[row] = kind === "summary" ? type | summaryBit : type;
    this.names[row] = name;
    this.texts[row] = text;
    this.attrs[row] = attrs;
    return id;
  }

  /** Appends the encoded rows, joined by commas; the rows are gone afterwards. */
  drain(out: ByteWriter): void {
    let lastHead = 0;
    let headBytes = 0;
    for (let row = 0; row < this.count; row++) {
      if (row > 0) out.byte(commaByte);
      const head = out.length;
      // Marks of a loop differ in little: the head of the last one is copied and its number changed.
      if (row > 0 && this.isLikeLast(row)) {
        out.repeat(lastHead, headBytes);
        out.setTwelveHexDigits(head + markCounterOffset, this.ids[row] as number);
      } else {
        this.encodeHead(out, row);
        headBytes = out.length - head;
      }
      lastHead = head;
      const flags = this.flags[row] as number;
      out.text(this.valueText(row, flags & 3));
      const time = this.times[row] as number;
      const kind = (flags & summaryBit) === 0 ? "point" : "summary";
      encodeMarkTail(out, this.attrs[row] as string, toSeconds(time), toNanos(time), kind);
    }
    this.clear();
  }

  clear(): void {
    this.count = 0;
  }

  private isLikeLast(row: number): boolean {
    return (
      this.spans[row] === this.spans[row - 1] &&
      this.flags[row] === this.flags[row - 1] &&
      this.names[row] === this.names[row - 1]
    );
  }

  private encodeHead(out: ByteWriter, row: number): void {
    encodeMarkHead(
      out,
      markIds.prefix,
      this.ids[row] as number,
      spanIds.prefix,
      this.spans[row] as number,
      quote(this.names[row] as string),
      types[(this.flags[row] as number) & 3] as MarkType,
    );
  }

  private valueText(row: number, type: number): string {
    const text = this.texts[row];
    if (typeof text === "string") return text;
    const value = this.numbers[row] as number;
    if (type === typeFloat) return formatFloat(value);
    if (type === typeBool) return value === 1 ? "true" : "false";
    return String(value);
  }
}
