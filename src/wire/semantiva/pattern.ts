// A line that was judged, with the texts and numbers that may differ in others without changing the judgement, because no
// rule looks at them. Another line is compared with its bytes: within such a text or number it may differ, everywhere else it
// must be equal. So a line that matches has the same structure, keeps the same rules and has nothing odd about it, and of its
// values only those that differ are read.

import { parseNumber } from "#base/json/number.ts";
import { decodeText } from "#base/json/text.ts";
import { numberForm } from "#base/json/tokens.ts";
import type { JsonLimits, JsonObject, JsonValue } from "#base/json/value.ts";
import { endOfPlainDigits, endOfPlainText } from "#base/json/words.ts";
import type { Message } from "./decode.ts";
import { allowAnyText, findFreeLeaves, type Leaf, leafKind, rulesOfMember, wholeDigitsMax } from "./free-leaves.ts";
import type { Registry } from "./registry.ts";

/** Lines with more free leaves are not learned. */
export const leavesMax = 1024;
/** A decimal with more digits is left to the general reading. */
const decimalBytesMax = 64;

// Where the line that matched last differs: the leaf, and its bytes in the line. All patterns share these arrays, because
// lines are read one after the other.
const changedLeaf = new Int32Array(leavesMax);
const changedFrom = new Int32Array(leavesMax);
const changedTo = new Int32Array(leavesMax);

type Path = readonly (string | number)[];

export class Pattern {
  /** The place in memory of the pattern that followed when this one was last met. */
  next = -1;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly message: Message;
  private readonly starts: Int32Array;
  private readonly ends: Int32Array;
  private readonly kinds: Uint8Array;
  /** The path to each leaf in the message's record; null when the record does not have it. */
  private readonly paths: readonly (Path | null)[];
  private readonly runIdLeaf: number;

  /** `message` is what the line was decoded to, `runIdLeaf` the leaf that its run id is. */
  constructor(line: Uint8Array, message: Message, leaves: readonly Leaf[], runIdLeaf: number) {
    this.bytes = new Uint8Array(line);
    this.view = new DataView(this.bytes.buffer);
    this.message = message;
    this.starts = Int32Array.from(leaves, ({ start }) => start);
    this.ends = Int32Array.from(leaves, ({ end }) => end);
    this.kinds = Uint8Array.from(leaves, ({ kind }) => kind);
    this.paths = leaves.map(({ path }) => (isAt(message.record, path) ? path : null));
    this.runIdLeaf = runIdLeaf;
  }

  /** The message of the line in bytes[from..to); undefined when it does not match. `view` is over the same bytes. */
  read(bytes: Uint8Array, view: DataView, from: number, to: number): Message | undefined {
    const changes = this.compare(bytes, view, from, to);
    if (changes < 0) return undefined;
    const { message, kinds, paths } = this;
    let { record, runId } = message;
    for (let i = 0; i < changes; i++) {
      const leaf = changedLeaf[i] as number;
      const path = paths[leaf] as Path | null;
      if (path === null && leaf !== this.runIdLeaf) continue;
      const value = readLeaf(kinds[leaf] as number, bytes, changedFrom[i] as number, changedTo[i] as number);
      if (leaf === this.runIdLeaf) runId = value as string;
      if (path === null) continue;
      if (record === message.record) record = { ...record };
      put(record, message.record, path, value);
    }
    return { ...message, runId, record };
  }

  /** The number of leaves that differ, or -1. */
  private compare(bytes: Uint8Array, view: DataView, from: number, to: number): number {
    const { bytes: own, view: ownView, starts, ends } = this;
    let changes = 0;
    let leaf = 0;
    let at = 0;
    let p = from;
    for (;;) {
      const last = Math.min(own.length - at, to - p) - 8;
      const first = at;
      // Eight bytes at a time, as doubles: no JSON text makes a zero, and one that makes a NaN is looked at below.
      while (at - first <= last && ownView.getFloat64(at, true) === view.getFloat64(p, true)) {
        at += 8;
        p += 8;
      }
      while (at < own.length && p < to && own[at] === bytes[p]) {
        at++;
        p++;
      }
      if (at === own.length) return p === to ? changes : -1;
      while (leaf < ends.length && (ends[leaf] as number) < at) leaf++;
      if (leaf === ends.length || (starts[leaf] as number) > at) return -1;
      const start = p - (at - (starts[leaf] as number));
      const stop = passLeaf(this.kinds[leaf] as number, view, start, p, to);
      if (stop <= start) return -1;
      changedLeaf[changes] = leaf;
      changedFrom[changes] = start;
      changedTo[changes++] = stop;
      at = ends[leaf++] as number;
      p = stop;
    }
  }
}

/** The end of a leaf that begins at `start` and is known to be plain up to `p`; -1 when it is not of this kind. */
function passLeaf(kind: number, view: DataView, start: number, p: number, to: number): number {
  if (kind === leafKind.text) return endOfPlainText(view, p, to);
  if (kind === leafKind.decimal) return endOfDecimal(view, start, to);
  const stop = endOfPlainDigits(view, start, to);
  return stop - start <= wholeDigitsMax ? stop : -1;
}

/** The end of a number with a fraction and no exponent. */
function endOfDecimal(view: DataView, start: number, to: number): number {
  const end = Math.min(to, start + decimalBytesMax);
  const whole = start < end && view.getUint8(start) === 0x2d ? start + 1 : start;
  const point = endOfDigits(view, whole, end);
  const hasLeadingZero = point > whole + 1 && view.getUint8(whole) === 0x30;
  if (point === whole || point >= end || hasLeadingZero || view.getUint8(point) !== 0x2e) return -1;
  const stop = endOfDigits(view, point + 1, end);
  return stop === point + 1 || stop >= end || (view.getUint8(stop) | 0x20) === 0x65 ? -1 : stop;
}

function endOfDigits(view: DataView, from: number, end: number): number {
  let p = from;
  while (p < end && view.getUint8(p) >= 0x30 && view.getUint8(p) <= 0x39) p++;
  return p;
}

function readLeaf(kind: number, bytes: Uint8Array, start: number, stop: number): JsonValue {
  if (kind === leafKind.text) return decodeText(bytes, start, stop, false, false);
  return parseNumber(bytes, start, stop, kind === leafKind.whole ? numberForm.integer : numberForm.float);
}

function isAt(record: JsonObject, path: Path): boolean {
  let at: JsonValue | undefined = record;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as JsonObject)[key] as JsonValue;
  }
  return true;
}

/** Sets the value at a path of `copy`. Objects on the path that still belong to `model` are copied first. */
function put(copy: JsonObject, model: JsonObject, path: Path, value: JsonValue): void {
  let into = copy;
  let from = model;
  for (let i = 0; i < path.length - 1; i++) {
    const key = path[i] as string;
    const inner = from[key] as JsonObject;
    if (into[key] === inner) into[key] = Array.isArray(inner) ? [...(inner as JsonValue[])] : { ...inner };
    into = into[key] as JsonObject;
    from = inner;
  }
  into[path.at(-1) as string] = value;
}

// The lines that were judged recently, as patterns for those to come. A pipeline that runs a thousand times writes the same
// lines a thousand times, in the same order, except for ids, times, digests and values.

const patternsMax = 32;
/** Longer lines are judged one by one: keeping them would take too much memory. */
const patternBytesMax = 16 * 1024;

// If lines are never alike, comparing and learning them is not worth it. Matches earn credit that misses use up; without
// credit, only about one line in a hundred is tried.
const creditMax = 1024;
const missCost = 8;
const creditOfUntried = missCost / 128;

export class Patterns {
  private readonly registry: Registry;
  private readonly places: Pattern[] = [];
  private last: Pattern | undefined;
  private oldest = 0;
  private credit = creditMax / 2;
  private isWorthIt = true;

  constructor(registry: Registry) {
    this.registry = registry;
  }

  /** The message that judging the line would give; undefined when it is like none that was judged. */
  find(bytes: Uint8Array, view: DataView, from: number, to: number): Message | undefined {
    this.isWorthIt = this.credit >= missCost && to - from <= patternBytesMax;
    if (!this.isWorthIt) {
      this.credit += creditOfUntried;
      return undefined;
    }
    const guess = this.last?.next ?? -1;
    const guessed = this.places[guess]?.read(bytes, view, from, to);
    if (guessed !== undefined) return this.follow(guess, guessed);
    for (let place = 0; place < this.places.length; place++) {
      const message = place === guess ? undefined : (this.places[place] as Pattern).read(bytes, view, from, to);
      if (message !== undefined) return this.follow(place, message);
    }
    this.credit -= missCost;
    return undefined;
  }

  /** Learns a line for which `find` has just returned undefined, with the message that it was judged to be. */
  learn(line: Uint8Array, message: Message): void {
    if (!this.isWorthIt || !message.known || message.oddities !== 0) return;
    const { header, record, runIdAt } = this.registry.rulesOf(message.type);
    // A run id in the record that stands in for the header's must keep the header's rules too.
    if (!allowAnyText(rulesOfMember([header], "run_id"))) return;
    const leaves = findFreeLeaves(line, [header, record]);
    const runIdLeaf = leaves.findIndex(({ kind, path }) => kind === leafKind.text && `/${path.join("/")}` === runIdAt);
    if (runIdLeaf < 0 || leaves.length > leavesMax) return;
    const place = this.places.length < patternsMax ? this.places.length : this.oldest++ % patternsMax;
    this.places[place] = new Pattern(line, message, leaves, runIdLeaf);
    this.follow(place, message);
  }

  private follow(place: number, message: Message): Message {
    if (this.last !== undefined) this.last.next = place;
    this.last = this.places[place];
    if (this.credit < creditMax) this.credit++;
    return message;
  }
}

const memories = new WeakMap<Registry, { readonly limits: JsonLimits | undefined; readonly patterns: Patterns }>();

/** The patterns for lines that are judged by this registry within these limits. */
export function patternsOf(registry: Registry, limits: JsonLimits | undefined): Patterns {
  let memory = memories.get(registry);
  if (memory === undefined || memory.limits !== limits) {
    memory = { limits, patterns: new Patterns(registry) };
    memories.set(registry, memory);
  }
  return memory.patterns;
}
