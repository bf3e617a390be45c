// Spans → columns, straight from protobuf: no object a span. What a row has that its span does not say (its group, its
// arrival) is filled in by intake. Attributes are JSON text in `attrs`; what no column has stands in `extra`. A span that
// these do not give back has its bytes in `raw`, in base64.

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

export class SpanColumns {
  readonly rows: Rows<"spans"> = createRows("spans");
  readonly points: StepPoints = new StepPoints();
  /** The place of each row's origin in the request's list. */
  readonly origin: UInt32Column = new UInt32Column();
  /** `spanIdWords` a row. */
  readonly ids: UInt32Column = new UInt32Column();
  private readonly writer: AttributeWriter<AttributeRole>;
  private readonly attrs = new ByteWriter(512);
  private readonly extra: SpanExtra;
  private readonly found = new SpanFields();
  private readonly seen: string[] = [];

  constructor(roleOf: (name: string) => AttributeRole) {
    this.writer = new AttributeWriter(keysFor(roleOf));
    this.extra = new SpanExtra(this.writer);
  }

  get length(): number {
    return this.origin.length;
  }

  /** Pushes the span between two offsets; an answer says why it is none, and then nothing was pushed. */
  take(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): string | null {
    const { found, attrs, writer } = this;
    found.clear(from);
    attrs.clear();
    attrs.byte(openBrace);
    this.points.begin();
    this.seen.length = 0;
    writer.isOdd = false;
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.field === spanField.attribute && reader.wire === wireType.bytes) {
        if (!this.attribute(reader)) break;
      } else found.note(reader);
    }
    if (reader.bad) return "a span is no protobuf, or nested too deep";
    attrs.byte(closeBrace);
    const reason = found.judge(reader);
    if (reason !== null) return reason;
    if (!this.extra.write(reader, to, found)) return "an event, link or status of a span is no protobuf";
    if (found.isOdd || hasTwice(this.seen)) writer.isOdd = true;
    this.push(reader, from, to, origin, originAt);
    return null;
  }

  release(): void {
    this.origin.release();
    this.ids.release();
  }

  private attribute(reader: ProtoReader): boolean {
    const { attrs, writer } = this;
    const end = reader.enter();
    if (attrs.length > 1) attrs.byte(comma);
    if (!writer.keyValue(reader, end, attrs, 0) || writer.key === null) return false;
    const { key } = writer;
    this.seen.push(key.text);
    if (!writer.isNumber) {
      this.points.noteText(key.role, attrs.bytes, writer.valueAt, attrs.length);
      return true;
    }
    this.points.note(key, writer);
    return true;
  }

  private push(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): void {
    const { rows, found, points, attrs, writer } = this;
    const { out: extra } = this.extra;
    const { bytes, view } = reader;
    this.origin.push(originAt);
    for (let i = 0; i < 16; i += 4) this.ids.push(view.getUint32(found.traceFrom + i));
    for (let i = 0; i < 8; i += 4) this.ids.push(view.getUint32(found.spanFrom + i));
    putHex(bytes, found.spanFrom, found.spanFrom + 8, scratch, 0);
    rows.span_id.pushBytes(scratch, 0, 16);
    points.close(rows.span_id.length - 1, scratch, found, origin.worker);
    if (found.parentTo > found.parentFrom && putHex(bytes, found.parentFrom, found.parentTo, scratch, 0))
      rows.parent_id.present().pushBytes(scratch, 0, (found.parentTo - found.parentFrom) * 2);
    else rows.parent_id.pushNull();
    const name = spanNames.find(bytes, found.nameFrom, found.nameTo);
    if (!name.isExact) writer.isOdd = true;
    rows.name.push(name.text);
    if (points.hasStep) rows.index.present().pushWords(points.stepLow, points.stepHigh);
    else rows.index.pushNull();
    rows.start_ns.pushWords(found.startLow, found.startHigh);
    rows.end_ns.pushWords(found.endLow, found.endHigh);
    if (points.hasThread) rows.thread_id.present().pushWords(points.threadLow, points.threadHigh);
    else rows.thread_id.pushNull();
    if (origin.pid === null) rows.pid.pushNull();
    else rows.pid.present().pushBigInt(origin.pid);
    rows.rank.push(origin.rank);
    rows.attrs.pushBytes(attrs.bytes, 0, attrs.length);
    rows.mark_ids.pushBytes(noList);
    rows.origin.push(origin.payload);
    rows.extra.pushBytes(extra.bytes, 0, extra.length);
    if (writer.isOdd) rows.raw.push(Buffer.from(bytes.subarray(from, to)).toString("base64"));
    else rows.raw.padTo(rows.raw.length + 1);
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

/** Names and what they mean are learnt once for all requests. */
function keysFor(roleOf: (name: string) => AttributeRole): KeyCache<AttributeRole> {
  let keys = caches.get(roleOf);
  if (keys === undefined) {
    keys = new KeyCache(roleOf);
    caches.set(roleOf, keys);
  }
  return keys;
}
