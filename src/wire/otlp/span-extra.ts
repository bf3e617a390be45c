// What no column of a span has, as JSON text:
//
//   {"trace_id":"…","kind":2,"trace_state":"…","flags":1,"status":{"code":2,"message":"…"},
//    "events":[{"time_ns":"…","name":"…","attributes":{…},"dropped_attributes":1}],
//    "links":[{"trace_id":"…","span_id":"…",…}],"dropped_attributes":1,"dropped_events":1,"dropped_links":1}

import { type ByteWriter, toAscii } from "#base/byte-writer.ts";
import { type AttributeWriter, jsonBytes } from "./attributes.ts";
import { putHex } from "./hex.ts";
import type { AttributeRole } from "./meaning.ts";
import { type ProtoReader, wireType } from "./protobuf.ts";
import { type SpanFields, spanField } from "./span-fields.ts";

const { quote, comma, closeBrace, closeBracket } = jsonBytes;

const words = {
  traceId: toAscii('{"trace_id":"'),
  kind: toAscii(',"kind":'),
  traceState: toAscii(',"trace_state":'),
  flags: toAscii(',"flags":'),
  status: toAscii(',"status":{"code":'),
  message: toAscii(',"message":'),
  events: toAscii(',"events":['),
  links: toAscii(',"links":['),
  droppedAttributes: toAscii(',"dropped_attributes":'),
  droppedEvents: toAscii(',"dropped_events":'),
  droppedLinks: toAscii(',"dropped_links":'),
  time: toAscii('{"time_ns":"'),
  name: toAscii('","name":'),
  attributes: toAscii(',"attributes":{'),
  linkTrace: toAscii('{"trace_id":"'),
  linkSpan: toAscii('","span_id":"'),
} as const;

const traceHex = new Uint8Array(32);

export class SpanExtra {
  private readonly out: ByteWriter;
  private readonly writer: AttributeWriter<AttributeRole>;

  constructor(writer: AttributeWriter<AttributeRole>, out: ByteWriter) {
    this.writer = writer;
    this.out = out;
  }

  /** Adds the text of one span. False when an event, a link or the status is not a message. */
  write(reader: ProtoReader, to: number, found: SpanFields): boolean {
    const { out: extra } = this;
    const { bytes } = reader;
    extra.raw(words.traceId);
    putHex(bytes, found.traceFrom, found.traceFrom + 16, traceHex);
    extra.raw(traceHex);
    extra.byte(quote);
    this.count(words.kind, found.kind);
    if (found.stateTo > found.stateFrom) {
      extra.raw(words.traceState);
      this.writer.text(bytes, found.stateFrom, found.stateTo, extra);
    }
    this.count(words.flags, found.flags);
    this.count(words.droppedAttributes, found.droppedAttributes);
    this.count(words.droppedEvents, found.droppedEvents);
    this.count(words.droppedLinks, found.droppedLinks);
    if (found.hasStatus && !this.status(reader, found)) return false;
    if (found.events > 0 && !this.list(reader, found.from, to, spanField.event)) return false;
    if (found.links > 0 && !this.list(reader, found.from, to, spanField.link)) return false;
    extra.byte(closeBrace);
    return true;
  }

  private count(word: Uint8Array, value: number): void {
    if (value === 0) return;
    this.out.raw(word);
    this.out.text(String(value));
  }

  private status(reader: ProtoReader, found: SpanFields): boolean {
    const { out: extra, writer } = this;
    let code = 0;
    let messageFrom = 0;
    let messageTo = 0;
    reader.pos = found.statusFrom;
    while (reader.next(found.statusTo)) {
      if (reader.field === 3 && reader.wire === wireType.varint) code = reader.low | 0;
      else if (reader.field === 2 && reader.wire === wireType.bytes) {
        messageFrom = reader.from;
        messageTo = reader.to;
      } else writer.isOdd = true;
    }
    if (reader.bad) return false;
    extra.raw(words.status);
    extra.text(String(code));
    if (messageTo > messageFrom) {
      extra.raw(words.message);
      writer.text(reader.bytes, messageFrom, messageTo, extra);
    }
    extra.byte(closeBrace);
    return true;
  }

  private list(reader: ProtoReader, from: number, to: number, field: number): boolean {
    const { out: extra } = this;
    extra.raw(field === spanField.event ? words.events : words.links);
    let count = 0;
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.field !== field || reader.wire !== wireType.bytes) continue;
      if (count++ > 0) extra.byte(comma);
      const end = reader.enter();
      if (field === spanField.event ? !this.event(reader, end) : !this.link(reader, end)) return false;
      reader.pos = end;
    }
    extra.byte(closeBracket);
    return !reader.bad;
  }

  private event(reader: ProtoReader, end: number): boolean {
    const { out: extra, writer } = this;
    const { pos: start } = reader;
    let time = 0n;
    let nameFrom = 0;
    let nameTo = 0;
    let dropped = 0;
    while (reader.next(end)) {
      if (reader.field === 1 && reader.wire === wireType.eight) time = reader.view.getBigUint64(reader.from, true);
      else if (reader.field === 2 && reader.wire === wireType.bytes) {
        nameFrom = reader.from;
        nameTo = reader.to;
      } else if (reader.field === 4 && reader.wire === wireType.varint) dropped = reader.low;
      else if (reader.field !== 3 || reader.wire !== wireType.bytes) writer.isOdd = true;
    }
    if (reader.bad) return false;
    extra.raw(words.time);
    extra.text(time.toString());
    extra.raw(words.name);
    writer.text(reader.bytes, nameFrom, nameTo, extra);
    if (!this.attributesOf(reader, start, end, 3)) return false;
    this.count(words.droppedAttributes, dropped);
    extra.byte(closeBrace);
    return true;
  }

  private link(reader: ProtoReader, end: number): boolean {
    const { out: extra, writer } = this;
    const { pos: start, bytes } = reader;
    let trace = [0, 0];
    let span = [0, 0];
    let state = [0, 0];
    let dropped = 0;
    let flags = 0;
    while (reader.next(end)) {
      const isBytes = reader.wire === wireType.bytes;
      const extent = [reader.from, reader.to];
      if (reader.field === 1 && isBytes) trace = extent;
      else if (reader.field === 2 && isBytes) span = extent;
      else if (reader.field === 3 && isBytes) state = extent;
      else if (reader.field === 5 && reader.wire === wireType.varint) dropped = reader.low;
      else if (reader.field === 6 && reader.wire === wireType.four) flags = reader.view.getUint32(reader.from, true);
      else if (reader.field !== 4 || !isBytes) writer.isOdd = true;
    }
    if (reader.bad) return false;
    extra.raw(words.linkTrace);
    extra.text(hexOf(bytes, trace));
    extra.raw(words.linkSpan);
    extra.text(hexOf(bytes, span));
    extra.byte(quote);
    if ((state[1] as number) > (state[0] as number)) {
      extra.raw(words.traceState);
      writer.text(bytes, state[0] as number, state[1] as number, extra);
    }
    if (!this.attributesOf(reader, start, end, 4)) return false;
    this.count(words.droppedAttributes, dropped);
    this.count(words.flags, flags);
    extra.byte(closeBrace);
    return true;
  }

  /** The attributes of an event or link; nothing when it has none. */
  private attributesOf(reader: ProtoReader, from: number, end: number, field: number): boolean {
    const { out: extra, writer } = this;
    let names: Set<string> | null = null;
    reader.pos = from;
    while (reader.next(end)) {
      if (reader.field !== field || reader.wire !== wireType.bytes) continue;
      if (names === null) extra.raw(words.attributes);
      else extra.byte(comma);
      names ??= new Set();
      const to = reader.enter();
      if (!writer.keyValue(reader, to, extra, 0)) return false;
      const { text } = writer.key ?? { text: "" };
      if (names.has(text)) writer.isOdd = true;
      names.add(text);
      reader.pos = to;
    }
    if (names !== null) extra.byte(closeBrace);
    return !reader.bad;
  }
}

function hexOf(bytes: Uint8Array, [from, to]: readonly number[]): string {
  return Buffer.from(bytes.subarray(from, to)).toString("hex");
}
