// Spans → columns, straight from protobuf, without an object per span. Intake fills in what the span does not say: its group
// and its arrival. Attributes are JSON text in `attrs`; what has no column is in `extra`. If these cannot reproduce a span
// exactly, its bytes are in `raw`, in base64.

import { ByteWriter, toAscii } from "#base/byte-writer.ts";
import { UInt32Column } from "#base/columns.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { AttributeWriter, jsonBytes } from "./attributes.ts";
import { putHex } from "./hex.ts";
import { KeyCache } from "./key-cache.ts";
import type { AttributeRole } from "./meaning.ts";
import type { Origin } from "./origin.ts";
import { type ProtoReader, wireType } from "./protobuf.ts";
import { SpanExtra } from "./span-extra.ts";
import { SpanFields, spanField } from "./span-fields.ts";
import { StepPoints } from "./step-points.ts";

const { comma, openBrace, closeBrace } = jsonBytes;

/** Words of a span's identity: four of the trace, two of the span. */
export const spanIdWords = 6;

const scratch = new Uint8Array(64);
const noList = toAscii("[]");

// The texts of all spans of a request, back to back: they become a column in one go. Requests are read without pauses, so
// they can all share this memory.
const sharedBytes = 64 * 1024;
let attrTexts = new ByteWriter(sharedBytes);
let extraTexts = new ByteWriter(sharedBytes);
/** If an odd request makes it larger, it is not kept. */
const sharedBytesMax = 4 * 1024 * 1024;

export class SpanColumns {
  readonly rows: Rows<"spans"> = createRows("spans");
  readonly points: StepPoints = new StepPoints();
  /** The place of each row's origin in the request's list. */
  readonly origin: UInt32Column = new UInt32Column();
  /** `spanIdWords` a row. */
  readonly ids: UInt32Column = new UInt32Column();
  private readonly writer: AttributeWriter<AttributeRole>;
  private readonly attrs = attrTexts;
  private readonly attrEnds = new UInt32Column();
  private readonly extras = extraTexts;
  private readonly extraEnds = new UInt32Column();
  private readonly extra: SpanExtra;
  private readonly found = new SpanFields();
  private readonly seen: string[] = [];
  /** The process of the previous row, as two words. */
  private pid: bigint | null = null;
  private pidLow = 0;
  private pidHigh = 0;

  constructor(roleOf: (name: string) => AttributeRole) {
    this.attrs.clear();
    this.extras.clear();
    this.writer = new AttributeWriter(keysFor(roleOf));
    this.extra = new SpanExtra(this.writer, this.extras);
  }

  get length(): number {
    return this.origin.length;
  }

  /** Makes room for this many more. */
  expect(count: number): void {
    const { rows } = this;
    const length = this.length + count;
    for (const column of [this.origin, this.attrEnds, this.extraEnds, rows.rank]) column.reserve(length);
    this.ids.reserve(length * spanIdWords);
    for (const column of [rows.start_ns, rows.end_ns, rows.name, rows.origin]) column.reserve(length);
    rows.span_id.reserve(length, length * 16);
    rows.parent_id.nulls.reserve(length);
    rows.parent_id.inner.reserve(length, length * 16);
  }

  /** Pushes the span between two offsets; returns why it cannot be read, in which case nothing was pushed. */
  take(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): string | null {
    const { attrs, extras } = this;
    const { length: attrsFrom } = attrs;
    const { length: extrasFrom } = extras;
    const reason = this.read(reader, from, to);
    if (reason === null) {
      this.push(reader, from, to, origin, originAt);
      return null;
    }
    attrs.length = attrsFrom;
    extras.length = extrasFrom;
    return reason;
  }

  /** Completes the rows: fills what is the same in all of them, and copies their texts out of the shared memory. */
  finish(): void {
    const { rows, length, attrs, extras } = this;
    // Memory that is too large to be shared is dropped below, so the column can own it.
    if (attrs.bytes.length > sharedBytesMax) rows.attrs.adopt(attrs.bytes, this.attrEnds.values, length);
    else rows.attrs.pushJoined(attrs.bytes, this.attrEnds.values, length);
    rows.extra.pushJoined(extras.bytes, this.extraEnds.values, length);
    rows.mark_ids.padWith(length, noList);
    for (const column of [rows.index, rows.thread_id, rows.pid, rows.raw]) column.padTo(length);
    this.attrEnds.release();
    this.extraEnds.release();
    if (attrs.bytes.length > sharedBytesMax) attrTexts = new ByteWriter(sharedBytes);
    if (extras.bytes.length > sharedBytesMax) extraTexts = new ByteWriter(sharedBytes);
  }

  release(): void {
    this.origin.release();
    this.ids.release();
  }

  private read(reader: ProtoReader, from: number, to: number): string | null {
    const { found, attrs, writer } = this;
    found.clear(from);
    attrs.byte(openBrace);
    this.points.begin();
    this.seen.length = 0;
    writer.begin();
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.field === spanField.attribute && reader.wire === wireType.bytes) {
        if (!this.attribute(reader)) break;
      } else found.note(reader);
    }
    if (reader.bad) return "a span is no protobuf, nested too deep or of too many values";
    attrs.byte(closeBrace);
    const reason = found.judge(reader);
    if (reason !== null) return reason;
    if (!this.extra.write(reader, to, found)) return "an event, link or status of a span is no protobuf";
    if (found.isOdd || hasTwice(this.seen)) writer.isOdd = true;
    return null;
  }

  private attribute(reader: ProtoReader): boolean {
    const { attrs, writer, seen } = this;
    const end = reader.enter();
    if (seen.length > 0) attrs.byte(comma);
    if (!writer.attribute(reader, end, attrs) || writer.key === null) return false;
    const { key } = writer;
    seen.push(key.text);
    if (!writer.isNumber) {
      this.points.noteText(key.role, attrs.bytes, writer.valueAt, attrs.length);
      return true;
    }
    this.points.note(key, writer);
    return true;
  }

  private push(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): void {
    const { rows, found, points, writer, length: row } = this;
    const { bytes, view } = reader;
    this.origin.push(originAt);
    this.attrEnds.push(this.attrs.length);
    this.extraEnds.push(this.extras.length);
    for (let i = 0; i < 16; i += 4) this.ids.push(view.getUint32(found.traceFrom + i));
    for (let i = 0; i < 8; i += 4) this.ids.push(view.getUint32(found.spanFrom + i));
    putHex(bytes, found.spanFrom, found.spanFrom + 8, scratch);
    rows.span_id.pushBytes(scratch, 0, 16);
    points.close(row, scratch, found, origin.worker);
    if (found.parentTo > found.parentFrom && putHex(bytes, found.parentFrom, found.parentTo, scratch))
      rows.parent_id.present().pushBytes(scratch, 0, (found.parentTo - found.parentFrom) * 2);
    else rows.parent_id.pushNull();
    const name = spanNames.find(bytes, found.nameFrom, found.nameTo);
    if (!name.isExact) writer.isOdd = true;
    rows.name.push(name.text);
    if (points.hasStep) {
      rows.index.padTo(row);
      rows.index.present().pushWords(points.stepLow, points.stepHigh);
    }
    rows.start_ns.pushWords(found.startLow, found.startHigh);
    rows.end_ns.pushWords(found.endLow, found.endHigh);
    if (points.hasThread) {
      rows.thread_id.padTo(row);
      rows.thread_id.present().pushWords(points.threadLow, points.threadHigh);
    }
    this.pushPid(origin.pid, row);
    rows.rank.push(origin.rank);
    rows.origin.push(origin.payload);
    if (!writer.isOdd) return;
    rows.raw.padTo(row);
    rows.raw.push(Buffer.from(bytes.subarray(from, to)).toString("base64"));
  }

  private pushPid(pid: bigint | null, row: number): void {
    if (pid === null) return;
    if (pid !== this.pid) {
      this.pid = pid;
      this.pidLow = Number(BigInt.asUintN(32, pid));
      this.pidHigh = Number(BigInt.asUintN(32, pid >> 32n));
    }
    const column = this.rows.pid;
    column.padTo(row);
    column.present().pushWords(this.pidLow, this.pidHigh);
  }
}

/** One name twice among a span's attributes; most spans have a few. */
function hasTwice(names: readonly string[]): boolean {
  if (names.length > 12) return new Set(names).size < names.length;
  for (let i = 1; i < names.length; i++) for (let j = 0; j < i; j++) if (names[i] === names[j]) return true;
  return false;
}

const spanNames = new KeyCache<null>(() => null);
const caches = new WeakMap<(name: string) => AttributeRole, KeyCache<AttributeRole>>();

/** All requests share what was learnt about names. */
function keysFor(roleOf: (name: string) => AttributeRole): KeyCache<AttributeRole> {
  let keys = caches.get(roleOf);
  if (keys === undefined) {
    keys = new KeyCache(roleOf);
    caches.set(roleOf, keys);
  }
  return keys;
}
