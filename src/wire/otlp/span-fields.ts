// Where the parts of a span are in its message, and whether it has everything that a span needs.

import { type ProtoReader, wireType } from "./protobuf.ts";

/** Numbers of a span's fields. */
export const spanField = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentId: 4,
  name: 5,
  kind: 6,
  start: 7,
  end: 8,
  attribute: 9,
  droppedAttributes: 10,
  event: 11,
  droppedEvents: 12,
  link: 13,
  droppedLinks: 14,
  status: 15,
  flags: 16,
} as const;

const { varint, eight, bytes: length, four } = wireType;

export class SpanFields {
  /** Where the message begins. */
  from = 0;
  traceFrom = 0;
  traceTo = 0;
  spanFrom = 0;
  spanTo = 0;
  parentFrom = 0;
  parentTo = 0;
  stateFrom = 0;
  stateTo = 0;
  nameFrom = 0;
  nameTo = 0;
  statusFrom = 0;
  statusTo = 0;
  startLow = 0;
  startHigh = 0;
  endLow = 0;
  endHigh = 0;
  kind = 0;
  flags = 0;
  droppedAttributes = 0;
  droppedEvents = 0;
  droppedLinks = 0;
  events = 0;
  links = 0;
  hasStatus = false;
  /** Columns and `extra` cannot reproduce it exactly. */
  isOdd = false;

  clear(from: number): void {
    this.from = from;
    this.traceFrom = this.traceTo = this.spanFrom = this.spanTo = 0;
    this.parentFrom = this.parentTo = this.stateFrom = this.stateTo = this.nameFrom = this.nameTo = 0;
    this.startLow = this.startHigh = this.endLow = this.endHigh = 0;
    this.kind = this.flags = this.droppedAttributes = this.droppedEvents = this.droppedLinks = 0;
    this.events = this.links = 0;
    this.hasStatus = this.isOdd = false;
  }

  /** Takes the field that the reader has read; attributes are taken elsewhere. */
  note(reader: ProtoReader): void {
    const { field, wire, from, to } = reader;
    if (field === spanField.traceId && wire === length) {
      this.traceFrom = from;
      this.traceTo = to;
    } else if (field === spanField.spanId && wire === length) {
      this.spanFrom = from;
      this.spanTo = to;
    } else if (field === spanField.parentId && wire === length) {
      this.parentFrom = from;
      this.parentTo = to;
    } else if (field === spanField.name && wire === length) {
      this.nameFrom = from;
      this.nameTo = to;
    } else if (field === spanField.start && wire === eight) {
      this.startLow = reader.view.getUint32(from, true);
      this.startHigh = reader.view.getUint32(from + 4, true);
    } else if (field === spanField.end && wire === eight) {
      this.endLow = reader.view.getUint32(from, true);
      this.endHigh = reader.view.getUint32(from + 4, true);
    } else this.noteRare(reader);
  }

  private noteRare(reader: ProtoReader): void {
    const { field, wire, from, to, low } = reader;
    if (field === spanField.kind && wire === varint) this.kind = low | 0;
    else if (field === spanField.flags && wire === four) this.flags = reader.view.getUint32(from, true);
    else if (field === spanField.status && wire === length) {
      if (this.hasStatus) this.isOdd = true;
      this.hasStatus = true;
      this.statusFrom = from;
      this.statusTo = to;
    } else if (field === spanField.traceState && wire === length) {
      this.stateFrom = from;
      this.stateTo = to;
    } else if (field === spanField.event && wire === length) this.events++;
    else if (field === spanField.link && wire === length) this.links++;
    else if (field === spanField.droppedAttributes && wire === varint) this.droppedAttributes = low;
    else if (field === spanField.droppedEvents && wire === varint) this.droppedEvents = low;
    else if (field === spanField.droppedLinks && wire === varint) this.droppedLinks = low;
    else this.isOdd = true;
  }

  /** Why it cannot be taken: it lacks its ids or its time. */
  judge({ bytes }: ProtoReader): string | null {
    if (this.traceTo - this.traceFrom !== 16 || isZero(bytes, this.traceFrom, this.traceTo))
      return "a span has no trace id of 16 bytes";
    if (this.spanTo - this.spanFrom !== 8 || isZero(bytes, this.spanFrom, this.spanTo))
      return "a span has no span id of 8 bytes";
    const parentBytes = this.parentTo - this.parentFrom;
    if (parentBytes !== 0 && parentBytes !== 8) return "the parent of a span is no id of 8 bytes";
    if (this.startLow === 0 && this.startHigh === 0) return "a span has no start";
    if (this.startHigh > 0x7fff_ffff || this.endHigh > 0x7fff_ffff) return "a span is of a time after the year 2262";
    if (parentBytes === 8 && isZero(bytes, this.parentFrom, this.parentTo)) this.isOdd = true;
    if (this.endHigh < this.startHigh || (this.endHigh === this.startHigh && this.endLow < this.startLow)) {
      // Without an end, or with one before its start, it is drawn as a moment; `raw` has what was sent.
      this.isOdd = true;
      this.endLow = this.startLow;
      this.endHigh = this.startHigh;
    }
    return null;
  }
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false;
  return true;
}
