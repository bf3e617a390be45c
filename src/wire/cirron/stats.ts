// The numbers inside a snapshot's `stats`. The scan has checked the text already; whatever is not a number where one
// is expected is left out here and stays in the stored text.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { parseDouble } from "#base/json/number.ts";
import type { RecordScan } from "./record-scan.ts";

const latin = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const meanKey = latin("mean");
const stdKey = latin("std");
const minKey = latin("min");
const maxKey = latin("max");
const normKey = latin("norm");
const histogramKey = latin("histogram");
const binsKey = latin("bins");
const countsKey = latin("counts");

/** A re-used list of doubles. */
export class DoubleList {
  values = new Float64Array(32);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }
}

/** Holds the numbers of the record it read last. */
export class StatsReader {
  mean: number | null = null;
  std: number | null = null;
  min: number | null = null;
  max: number | null = null;
  norm: number | null = null;
  readonly bins = new DoubleList();
  readonly counts = new DoubleList();
  private readonly cursor = new JsonCursor(new Uint8Array(0));

  read(scan: RecordScan, field: number): void {
    this.mean = null;
    this.std = null;
    this.min = null;
    this.max = null;
    this.norm = null;
    this.bins.length = 0;
    this.counts.length = 0;
    if (scan.kinds[field] !== jsonKind.object) return;
    const { cursor } = this;
    cursor.reset(scan.cursor.bytes, scan.from[field], scan.to[field]);
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(meanKey)) this.mean = this.readNumber();
      else if (cursor.keyIs(stdKey)) this.std = this.readNumber();
      else if (cursor.keyIs(minKey)) this.min = this.readNumber();
      else if (cursor.keyIs(maxKey)) this.max = this.readNumber();
      else if (cursor.keyIs(normKey)) this.norm = this.readNumber();
      else if (cursor.keyIs(histogramKey)) this.readHistogram();
      else cursor.skipValue();
    }
  }

  private readNumber(): number | null {
    const { cursor } = this;
    if (cursor.peek() !== jsonKind.number) {
      cursor.skipValue();
      return null;
    }
    cursor.readNumber();
    return parseDouble(cursor.bytes, cursor.start, cursor.stop, cursor.form);
  }

  private readHistogram(): void {
    const { cursor } = this;
    this.bins.length = 0;
    this.counts.length = 0;
    if (cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(binsKey)) this.readList(this.bins);
      else if (cursor.keyIs(countsKey)) this.readList(this.counts);
      else cursor.skipValue();
    }
  }

  /** A list with anything but numbers in it counts as empty. */
  private readList(list: DoubleList): void {
    const { cursor } = this;
    list.length = 0;
    if (cursor.peek() !== jsonKind.array) {
      cursor.skipValue();
      return;
    }
    let isWhole = true;
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      const value = this.readNumber();
      if (value === null) isWhole = false;
      else list.push(value);
    }
    if (!isWhole) list.length = 0;
  }
}
