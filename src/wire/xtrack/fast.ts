// The fast path: metric frames of a known shape, straight into columns.
// It takes a frame only when it gives exactly the rows that the general decoder gives, and touches no column before it is
// sure; a property test compares the two.

import { ShortDecimal } from "#base/short-decimal.ts";
import { hashEnd, hashShared, hashValue } from "./content.ts";
import { type EventColumns, type OwnedRows, reserveMetrics } from "./event-columns.ts";
import { NameTable } from "./names.ts";
import { learnShape, type Shape, slotKind } from "./shape.ts";

/** Streams mix a few shapes. One that keeps showing new ones is left to the general decoder. */
const shapesMax = 16;
const learnedMax = 256;
/** The shapes that streams learned recently: the workers of a fleet send alike, so the first of them learns for all. */
const common: Shape[] = [];
const commonLiteralsMax = 4096;

// The values of the last matching frame. All streams, which are decoded one after the other, share them: of a thousand
// separate ones, most would not be in the processor's cache.
const noView = new DataView(new ArrayBuffer(0));
const number = new ShortDecimal();
const values = new Float64Array(256);
const valueWords = new Uint32Array(values.buffer);

export class FastDecoder {
  private readonly shapes: Shape[] = [];
  private learned = 0;
  private readonly run = new NameTable();
  private readonly worker = new NameTable();
  private readonly key = new NameTable();
  private seq = 0;
  private ts = 0;
  private step = 0;
  private epoch = 0;
  private view: DataView = noView;
  private viewed: Uint8Array | undefined;

  /** Pushes the event in bytes[start..end) and returns true, or leaves everything as it was. */
  decode(columns: EventColumns, bytes: Uint8Array, start: number, end: number, offset: number): boolean {
    const { shapes } = this;
    if (shapes.length === 0 && common.length === 0) return false;
    if (bytes !== this.viewed) {
      this.viewed = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    for (let i = 0; i < shapes.length; i++) {
      const shape = shapes[i] as Shape;
      if (!this.matches(shape, bytes, start, end)) continue;
      if (i > 0) {
        // The same shape often comes several times in a row, so the one that matched moves one place forward.
        shapes[i] = shapes[i - 1] as Shape;
        shapes[i - 1] = shape;
      }
      this.push(columns, shape, offset);
      return true;
    }
    const shape = this.findCommon(bytes, start, end);
    if (shape === undefined) return false;
    this.push(columns, shape, offset);
    return true;
  }

  /** Drops all references to the bytes that were decoded last. */
  letGo(): void {
    this.view = noView;
    this.viewed = undefined;
  }

  /** Learns from the event in bytes[start..end) that the general decoder has just pushed onto `columns`. */
  learn(columns: EventColumns, bytes: Uint8Array, start: number, end: number): void {
    if (this.learned >= learnedMax) return;
    const shape = learnShape(columns, bytes, start, end);
    if (shape === undefined) return;
    this.know(shape);
    if (shape.literals.length > commonLiteralsMax) return;
    common.unshift(shape);
    if (common.length > shapesMax) common.pop();
  }

  /** The shape of a frame that is new in this stream but known from others. */
  private findCommon(bytes: Uint8Array, start: number, end: number): Shape | undefined {
    if (this.learned >= learnedMax) return undefined;
    const shape = common.find((one) => !this.shapes.includes(one) && this.matches(one, bytes, start, end));
    if (shape !== undefined) this.know(shape);
    return shape;
  }

  private know(shape: Shape): void {
    this.learned++;
    this.shapes.unshift(shape);
    if (this.shapes.length > shapesMax) this.shapes.pop();
  }

  private matches(shape: Shape, bytes: Uint8Array, start: number, end: number): boolean {
    const { literals, literalsView, literalEnds, slots } = shape;
    const { view } = this;
    this.step = 0;
    this.epoch = 0;
    let at = start;
    let literal = 0;
    let value = 0;
    for (let slot = 0; ; slot++) {
      const from = literal;
      const literalEnd = literalEnds[slot] as number;
      if (at + literalEnd - literal > end) return false;
      // Eight bytes at a time, as doubles: no JSON text makes a zero, and one that makes a NaN is only taken to differ.
      for (; literal + 8 <= literalEnd; literal += 8, at += 8) {
        if (view.getFloat64(at, true) !== literalsView.getFloat64(literal, true)) return false;
      }
      if (literal < literalEnd) {
        if (literalEnd - from >= 8) {
          // The last eight bytes, some of them for the second time.
          at += literalEnd - literal;
          if (view.getFloat64(at - 8, true) !== literalsView.getFloat64(literalEnd - 8, true)) return false;
        } else for (let i = literal; i < literalEnd; i++) if (bytes[at++] !== literals[i]) return false;
        literal = literalEnd;
      }
      if (slot === slots.length) return at === end;
      const kind = slots[slot] as number;
      if (kind === slotKind.value) at = this.readValue(bytes, at, value++);
      else if (kind === slotKind.run) at = this.run.read(bytes, at, end);
      else if (kind === slotKind.key) at = this.key.read(bytes, at, end);
      else if (kind === slotKind.worker) at = this.worker.read(bytes, at, end);
      else at = this.readWhole(bytes, at, kind);
      if (at < 0 || at > end) return false;
    }
  }

  /** Numbers end before any byte of the literal behind them, so reading past `end` finds no digit that counts. */
  private readValue(bytes: Uint8Array, at: number, index: number): number {
    const c = bytes[at] as number;
    if (c === 0x4e) {
      values[index] = Number.NaN;
      return passWord(bytes, at, nanWord);
    }
    const isNegative = c === 0x2d;
    if (bytes[isNegative ? at + 1 : at] === 0x49) {
      values[index] = isNegative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      return passWord(bytes, isNegative ? at + 1 : at, infinityWord);
    }
    const stop = number.read(bytes, this.view, at);
    if (stop < 0 || !number.isExact) return -1;
    values[index] = number.out[0] as number;
    return stop;
  }

  private readWhole(bytes: Uint8Array, at: number, kind: number): number {
    let i = at;
    const negative = bytes[i] === 0x2d;
    if (negative) i++;
    const from = i;
    let value = 0;
    for (let c = bytes[i] as number; c >= 0x30 && c <= 0x39; c = bytes[++i] as number) value = value * 10 + (c - 0x30);
    const digits = i - from;
    if (digits === 0 || digits > 16 || (digits > 1 && bytes[from] === 0x30) || value > Number.MAX_SAFE_INTEGER)
      return -1;
    if (negative) {
      if (kind === slotKind.seq || kind === slotKind.ts) return -1;
      value = -value;
    }
    if (kind === slotKind.seq) this.seq = value;
    else if (kind === slotKind.ts) this.ts = value;
    else if (kind === slotKind.step) this.step = value;
    else this.epoch = value;
    return i;
  }

  private push(columns: EventColumns, shape: Shape, offset: number): void {
    const event = columns.length;
    columns.run.pushCode(this.run.name.codeIn(columns.run));
    if (shape.hasWorker) columns.worker.pushCode(this.worker.name.codeIn(columns.worker));
    else columns.worker.push("");
    columns.type.push(shape.type);
    columns.seq.pushNumber(this.seq);
    columns.pushTime(this.ts);
    columns.hash.push(this.hashOf(shape));
    columns.offset.push(offset);
    const { metrics } = columns;
    const { key } = metrics.rows;
    const row = key.length;
    const count = shape.names.length;
    if (count === 0) {
      reserveMetrics(metrics, row + 1);
      key.codes[row] = this.key.name.codeIn(key);
      metrics.rows.entry.values[row] = -1;
      this.fillRows(metrics, shape, event, row, row + 1);
      return;
    }
    reserveMetrics(metrics, row + count);
    key.codes.set(shape.codesIn(key), row);
    const entries = metrics.rows.entry.values;
    for (let entry = 0; entry < count; entry++) entries[row + entry] = entry;
    this.fillRows(metrics, shape, event, row, row + count);
  }

  private hashOf(shape: Shape): number {
    const { nameHashes } = shape;
    let hash = hashShared(shape.phase.hash, shape.ctx.hash, this.step, this.epoch);
    if (nameHashes.length === 0) {
      hash = hashValue(hash, this.key.name.hash, valueWords[0] as number, valueWords[1] as number);
    }
    for (let i = 0; i < nameHashes.length; i++) {
      hash = hashValue(hash, nameHashes[i] as number, valueWords[i * 2] as number, valueWords[i * 2 + 1] as number);
    }
    return hashEnd(hash);
  }

  /**
   * Writes rows [row, end) of one event; key and entry are there already. Columns that are empty in every such row are not
   * touched; they are padded when they are needed.
   */
  private fillRows(metrics: OwnedRows<"metrics">, shape: Shape, event: number, row: number, end: number): void {
    const { rows } = metrics;
    const events = metrics.event.values;
    const doubles = rows.value.inner.values;
    const valueNulls = rows.value.nulls.values;
    const stepNulls = rows.step.nulls.values;
    const stepWords = rows.step.inner.words;
    const epochNulls = rows.epoch.nulls.values;
    const epochWords = rows.epoch.inner.words;
    const phases = rows.phase.codes;
    const contexts = rows.ctx.codes;
    const flags = rows.flags.values;
    const phase = shape.phase.codeIn(rows.phase);
    const context = shape.ctx.codeIn(rows.ctx);
    const { step, epoch } = this;
    const stepHigh = Math.floor(step / two32);
    const epochHigh = Math.floor(epoch / two32);
    const stepNull = shape.hasStep ? 0 : 1;
    const epochNull = shape.hasEpoch ? 0 : 1;
    for (let at = row; at < end; at++) {
      events[at] = event;
      phases[at] = phase;
      contexts[at] = context;
      doubles[at] = values[at - row] as number;
      valueNulls[at] = 0;
      stepNulls[at] = stepNull;
      stepWords[at * 2] = step;
      stepWords[at * 2 + 1] = stepHigh;
      epochNulls[at] = epochNull;
      epochWords[at * 2] = epoch;
      epochWords[at * 2 + 1] = epochHigh;
      flags[at] = shape.flags;
    }
    setLength(metrics, end);
  }
}

const two32 = 4294967296;
const nanWord = new TextEncoder().encode("NaN");
const infinityWord = new TextEncoder().encode("Infinity");

/** The end of the word at `at`; -1 when it is not there. */
function passWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return -1;
  return at + word.length;
}

function setLength({ rows, event }: OwnedRows<"metrics">, length: number): void {
  event.length = length;
  rows.key.length = length;
  rows.phase.length = length;
  rows.ctx.length = length;
  rows.entry.length = length;
  rows.flags.length = length;
  rows.value.nulls.length = length;
  rows.value.inner.length = length;
  rows.step.nulls.length = length;
  rows.step.inner.length = length;
  rows.epoch.nulls.length = length;
  rows.epoch.inner.length = length;
}
