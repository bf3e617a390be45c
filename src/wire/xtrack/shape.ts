// The literal skeleton of a metric frame, learned from one that the general decoder has taken.
//
// Frames of one emitter differ only in a few places: numbers, and the names of run, worker and metric. Everything else
// (keys, their order, punctuation, the whole `ctx`, the names in a batch) is literal and compared byte for byte. So
// any frame that differs elsewhere is left to the general decoder, and nothing has to be checked twice.

import type { DictColumn } from "#base/columns.ts";
import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { rowFlags } from "#model/row-flags.ts";
import { hashText } from "./content.ts";
import type { EventColumns } from "./event-columns.ts";
import { type Field, type FieldSet, isInteger64, readFields, textOf } from "./fields.ts";
import { Name } from "./names.ts";

export const slotKind = { seq: 0, ts: 1, run: 2, worker: 3, key: 4, step: 5, epoch: 6, value: 7 } as const;

export interface Shape {
  readonly type: "metric" | "metric_batch";
  /** All literals back to back; literal i is followed by slot i, and after the last slot there is one more literal. */
  readonly literals: Uint8Array;
  readonly literalsView: DataView;
  readonly literalEnds: Uint32Array;
  /** The `slotKind` of each slot, in the order of the text. */
  readonly slots: Uint8Array;
  /** The names in a batch; empty for a single metric, whose name is a slot. */
  readonly names: readonly string[];
  readonly nameHashes: Int32Array;
  /** Their codes in a dictionary; remembered for the last dictionary. */
  readonly codesIn: (dict: DictColumn) => Uint32Array;
  readonly hasWorker: boolean;
  readonly hasStep: boolean;
  readonly hasEpoch: boolean;
  readonly phase: Name;
  /** JSON of the context as the row holds it. */
  readonly ctx: Name;
  readonly flags: number;
}

interface Slot {
  readonly kind: number;
  /** For a string without its quotes. */
  readonly start: number;
  readonly end: number;
}

const slotsMax = 256;

/** The shape of bytes[start..end), which was the last event pushed onto `columns`; undefined when it has none. */
export function learnShape(columns: EventColumns, bytes: Uint8Array, start: number, end: number): Shape | undefined {
  if (hasTooManyRows(columns)) return undefined;
  const envelope = readFields(bytes, start, end);
  const m = objectAt(envelope, "m");
  const p = objectAt(envelope, "p");
  const type = envelope.fields.get("t");
  if (m === undefined || p === undefined || type === undefined || envelope.fields.size !== 4) return undefined;
  const typeText = textOf(bytes, type);
  if (typeText !== "metric" && typeText !== "metric_batch") return undefined;
  if (envelope.duplicates || m.duplicates || p.duplicates || !isPlainRow(columns)) return undefined;
  const slots = [...metaSlots(m), ...payloadSlots(p)];
  const metrics = typeText === "metric_batch" ? objectAt(p, "metrics") : undefined;
  if (metrics !== undefined) for (const slot of valueSlots(metrics)) slots.push(slot);
  if (slots.length > slotsMax || slots.includes(undefined) || hasMore(m, ["seq", "ts", "wid"])) return undefined;
  if (hasMore(p, ["run_id", "key", "value", "metrics", "step", "epoch", "ctx"])) return undefined;
  const found = (slots as Slot[]).sort((a, b) => a.start - b.start);
  const { rows } = columns.metrics;
  const row = rows.key.length - 1;
  const names = metrics === undefined ? [] : [...metrics.fields.keys()];
  return {
    ...cutLiterals(bytes, start, end, found),
    type: typeText,
    slots: Uint8Array.from(found, (slot) => slot.kind),
    names,
    nameHashes: Int32Array.from(names, hashText),
    codesIn: rememberCodes(names),
    hasWorker: m.fields.has("wid"),
    hasStep: p.fields.has("step"),
    hasEpoch: p.fields.has("epoch"),
    phase: new Name(rows.phase.at(row)),
    ctx: new Name(rows.ctx.at(row)),
    flags: rows.flags.at(row) & ~rowFlags.odd_value,
  };
}

function rememberCodes(names: readonly string[]): (dict: DictColumn) => Uint32Array {
  let known = 0;
  let codes = new Uint32Array(0);
  return (dict) => {
    if (dict.serial !== known) {
      known = dict.serial;
      codes = Uint32Array.from(names, (name) => dict.intern(name));
    }
    return codes;
  };
}

/** Whether the last event has more rows than a shape can have slots. Finding out here saves reading it a second time. */
function hasTooManyRows({ metrics: { event }, length }: EventColumns): boolean {
  const before = event.length - 1 - slotsMax;
  return before >= 0 && event.at(before) === length - 1;
}

/** Whether the last event's rows have nothing in the columns the fast path leaves empty. */
function isPlainRow(columns: EventColumns): boolean {
  const { rows, event } = columns.metrics;
  const last = columns.length - 1;
  let row = event.length - 1;
  if (row < 0 || event.at(row) !== last) return false;
  for (; row >= 0 && event.at(row) === last; row--) {
    if ((rows.flags.at(row) & ~(rowFlags.odd_value | rowFlags.unlisted_word)) !== 0) return false;
    for (const column of [rows.extra, rows.raw, rows.step_text]) if (column.bytesAt(row).length > 0) return false;
  }
  return true;
}

function* metaSlots(m: FieldSet): Iterable<Slot | undefined> {
  yield wholeSlot(m, "seq", slotKind.seq);
  yield wholeSlot(m, "ts", slotKind.ts);
  if (m.fields.has("wid")) yield textSlot(m, "wid", slotKind.worker);
}

function* payloadSlots(p: FieldSet): Iterable<Slot | undefined> {
  yield textSlot(p, "run_id", slotKind.run);
  if (p.fields.has("step")) yield wholeSlot(p, "step", slotKind.step);
  if (p.fields.has("epoch")) yield wholeSlot(p, "epoch", slotKind.epoch);
  if (p.fields.has("metrics")) return;
  yield textSlot(p, "key", slotKind.key);
  yield numberSlot(p.fields.get("value"));
}

function* valueSlots(metrics: FieldSet): Iterable<Slot | undefined> {
  if (metrics.duplicates) yield undefined;
  for (const field of metrics.fields.values()) yield numberSlot(field);
}

function wholeSlot(set: FieldSet, name: string, kind: number): Slot | undefined {
  const field = set.fields.get(name);
  return field !== undefined && isInteger64(set.bytes, field)
    ? { kind, start: field.start, end: field.end }
    : undefined;
}

function textSlot(set: FieldSet, name: string, kind: number): Slot | undefined {
  const field = set.fields.get(name);
  if (field?.kind !== jsonKind.string || field.escaped || field.wide || field.end - field.start <= 2) return undefined;
  return { kind, start: field.start + 1, end: field.end - 1 };
}

function numberSlot(field: Field | undefined): Slot | undefined {
  if (field?.kind !== jsonKind.number || field.form > numberForm.nonFinite) return undefined;
  return { kind: slotKind.value, start: field.start, end: field.end };
}

function hasMore(set: FieldSet, known: readonly string[]): boolean {
  for (const name of set.fields.keys()) if (!known.includes(name)) return true;
  return false;
}

function objectAt(set: FieldSet, name: string): FieldSet | undefined {
  const field = set.fields.get(name);
  return field?.kind === jsonKind.object ? readFields(set.bytes, field.start, field.end) : undefined;
}

function cutLiterals(
  bytes: Uint8Array,
  start: number,
  end: number,
  slots: readonly Slot[],
): Pick<Shape, "literals" | "literalsView" | "literalEnds"> {
  const pieces: Uint8Array[] = [];
  let from = start;
  for (const slot of slots) {
    pieces.push(bytes.subarray(from, slot.start));
    from = slot.end;
  }
  pieces.push(bytes.subarray(from, end));
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const literals = new Uint8Array(size);
  const literalEnds = new Uint32Array(pieces.length);
  let at = 0;
  for (const [i, piece] of pieces.entries()) {
    literals.set(piece, at);
    at += piece.length;
    literalEnds[i] = at;
  }
  return { literals, literalsView: new DataView(literals.buffer), literalEnds };
}
