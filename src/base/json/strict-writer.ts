// Writes a checked JSON value as strict JSON, step by step: without blanks, with quotes around NaN and ±Infinity, and every
// key once. Of a repeated key the last value counts, at the place of the first.

import { JsonCursor, jsonKind, numberForm } from "./cursor.ts";
import { Pauses } from "./pauses.ts";
import { type JsonLimits, jsonDepthCeiling } from "./value.ts";

const noLimits: JsonLimits = { depthMax: jsonDepthCeiling, bytesMax: Number.POSITIVE_INFINITY };

/** The runtime copies longer ranges faster than a loop. */
const longBytes = 64;

/** Where the strict form of the container at `start` is in the output; `from` is -1 when a later member replaced it. */
interface Place {
  readonly start: number;
  from: number;
  to: number;
}

/** The members of an open object so far. */
class Members {
  readonly names = new Map<string, number>();
  /** Where each of them is in the output: two numbers per member. */
  readonly ends: number[] = [];
  /** The member that each place within the object is part of. */
  readonly owners: number[] = [];
  hasTwice = false;
  current = 0;
  currentFrom = 0;
}

interface Container {
  readonly start: number;
  readonly from: number;
  /** The first of the places within it. */
  readonly firstPlace: number;
  /** Null for a list. */
  readonly members: Members | null;
}

export class StrictWriter {
  /** The places of the containers that `isAsked` chose. */
  readonly places: Place[] = [];
  private readonly cursor: JsonCursor;
  private readonly isAsked: (start: number) => boolean;
  private readonly open: Container[] = [];
  private readonly out: Uint8Array;
  private size = 0;
  private readonly pauses: Pauses;

  /** `isAsked` says, by its start, whether the place of a container is to be kept. */
  constructor(bytes: Uint8Array, start: number, end: number, isAsked: (start: number) => boolean = () => false) {
    this.cursor = new JsonCursor(bytes, start, end, noLimits);
    this.isAsked = isAsked;
    const length = end - start;
    // A list of NaN grows by half.
    this.out = new Uint8Array(length + (length >> 1) + 2);
    this.pauses = new Pauses(start);
  }

  /** The output between two offsets; all of it by default. */
  text(from = 0, to: number = this.size): Uint8Array {
    return this.out.subarray(from, to);
  }

  *write(): Generator<void, void> {
    for (;;) {
      if (this.pauses.isDue(this.cursor.pos)) yield;
      if (this.enter()) continue;
      for (;;) {
        const around = this.open.at(-1);
        if (around === undefined) return;
        if (this.goOn(around)) break;
        this.open.pop();
        if (around.members?.hasTwice === true) yield* this.putInOrder(around, around.members);
        this.close(around);
      }
    }
  }

  /** True when a container was entered, false when a whole value was written. */
  private enter(): boolean {
    const { cursor } = this;
    const kind = cursor.peek();
    if (kind === jsonKind.bad) cursor.failExpected("a value");
    if (kind > jsonKind.array) {
      this.writeScalar(kind);
      return false;
    }
    const isObject = kind === jsonKind.object;
    const members = isObject ? new Members() : null;
    const container = { start: cursor.pos, from: this.size, firstPlace: this.places.length, members };
    this.out[this.size++] = isObject ? 0x7b : 0x5b;
    if (isObject ? cursor.openObject() : cursor.openArray()) {
      this.open.push(container);
      if (members !== null) this.beginMember(members);
      return true;
    }
    this.close(container);
    return false;
  }

  private writeScalar(kind: number): void {
    const { cursor, out } = this;
    const start = cursor.pos;
    cursor.passScalar(kind);
    const isWord = kind === jsonKind.number && cursor.form === numberForm.nonFinite;
    if (isWord) out[this.size++] = 0x22;
    this.copy(cursor.bytes, start, cursor.pos);
    if (isWord) out[this.size++] = 0x22;
  }

  /** After a value: writes what precedes the next one; false after the last. */
  private goOn({ members, firstPlace }: Container): boolean {
    if (members !== null) {
      members.ends[members.current * 2] = members.currentFrom;
      members.ends[members.current * 2 + 1] = this.size;
      for (let at = members.owners.length; at < this.places.length - firstPlace; at++)
        members.owners.push(members.current);
    }
    if (!(members === null ? this.cursor.nextItem() : this.cursor.nextMember())) return false;
    this.out[this.size++] = 0x2c;
    if (members !== null) this.beginMember(members);
    return true;
  }

  private beginMember(members: Members): void {
    const { bytes, start, stop } = this.cursor;
    const name = this.cursor.text();
    const known = members.names.get(name);
    if (known === undefined) {
      members.current = members.names.size;
      members.names.set(name, members.current);
    } else {
      members.current = known;
      members.hasTwice = true;
    }
    members.currentFrom = this.size;
    this.copy(bytes, start - 1, stop + 1);
    this.out[this.size++] = 0x3a;
  }

  /** Leaves out members that were replaced, and moves their replacements to where they were. */
  private *putInOrder({ from: begin, firstPlace }: Container, { ends, owners }: Members): Generator<void, void> {
    const old = this.out.slice(begin, this.size);
    const moved = new Float64Array(ends.length / 2);
    this.size = begin + 1;
    for (let member = 0; member < moved.length; member++) {
      if (this.pauses.isDue(this.cursor.pos)) yield;
      if (member > 0) this.out[this.size++] = 0x2c;
      const [from, to] = [ends[member * 2] as number, ends[member * 2 + 1] as number];
      moved[member] = this.size - from;
      this.copy(old, from - begin, to - begin);
    }
    for (let at = 0; at < owners.length; at++) {
      const member = owners[at] as number;
      const place = this.places[firstPlace + at] as Place;
      const isKept = place.from >= (ends[member * 2] as number) && place.to <= (ends[member * 2 + 1] as number);
      place.from = isKept ? place.from + (moved[member] as number) : -1;
      place.to += moved[member] as number;
    }
  }

  private close({ start, from, members }: Container): void {
    this.out[this.size++] = members === null ? 0x5d : 0x7d;
    if (this.isAsked(start)) this.places.push({ start, from, to: this.size });
  }

  private copy(source: Uint8Array, start: number, end: number): void {
    const { out, size } = this;
    if (end - start < longBytes) for (let at = start; at < end; at++) out[size + at - start] = source[at] as number;
    else out.set(source.subarray(start, end), size);
    this.size = size + end - start;
  }
}
