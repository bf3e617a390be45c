// Decoded events → rows. The state is which events are known. A copy, in whatever order, chunk, file or transport it comes, is
// counted and not stored. If one identity has two contents, the first is kept and the second becomes a fault.
//
// A group is `<workspace>/x/<run id as the client sent it>`. A run named by a path or a wrapper does not change the
// group, only the run to which it belongs, so that the same events are recognised with and without that name.

import type { DictColumn, Int64Column } from "#base/columns.ts";
import type { Applied } from "#intake/applied.ts";
import { type PlacedFault, toFaultParts } from "#intake/fault-rows.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords } from "#intake/intake-state.ts";
import type { SeqSet } from "#intake/seq-set.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import type { GroupKey } from "#model/group-key.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { AnyOwnedRows, EventColumns } from "#wire/xtrack/event-columns.ts";
import { frameAt } from "#wire/xtrack/segments.ts";
import type { DecodedXtrack, StreamSwitch, XtrackRecord } from "#wire/xtrack/stream.ts";
import { toGroupKey } from "./group-keys.ts";

/** The groups of these events. */
export function groupsOf(decoded: DecodedXtrack, workspace: string): GroupKey[] {
  return decoded.columns.run.keys.filter((run) => run !== "").map((run) => toGroupKey(workspace, run));
}

export function placeFaults({ faults }: DecodedXtrack, workspace: string): PlacedFault[] {
  return faults.map(({ fault, run }) => ({ fault, groupKey: run === "" ? "" : toGroupKey(workspace, run) }));
}

/** Changes the state and hands over the columns of `decoded`, which must not be used again. Pauses while it fills rows. */
export function* applyXtrack(
  state: KnownRecords,
  record: XtrackRecord,
  decoded: DecodedXtrack,
  meta: ArrivedAt,
): Generator<void, Applied> {
  const batch = new XtrackBatch(state, record, decoded, meta);
  batch.takeEvents();
  const parts: AnyTablePart[] = [];
  for (const owned of decoded.columns.tables) parts.push(yield* batch.fill(owned));
  for (const part of batch.ownParts()) parts.push(part);
  decoded.columns.release();
  const { changes, accepted, duplicates } = batch;
  return { parts, state: changes, accepted, duplicates, faults: batch.faults.map(({ fault }) => fault) };
}

class XtrackBatch {
  accepted = 0;
  duplicates = 0;
  readonly changes: StateChange[] = [];
  private readonly found: FaultList<PlacedFault>;
  private readonly state: KnownRecords;
  private readonly record: XtrackRecord;
  private readonly meta: ArrivedAt;
  private readonly columns: EventColumns;
  private readonly switches: readonly StreamSwitch[];
  /** One byte per event, 1 where it must not be stored; made with the first such event. */
  private dropped: Uint8Array | null = null;
  private readonly groupKeys: readonly GroupKey[];
  private readonly ranges: SeqRange[] = [];
  private readonly streams = new Map<number, WorkerStream>();

  constructor(state: KnownRecords, record: XtrackRecord, decoded: DecodedXtrack, meta: ArrivedAt) {
    this.state = state;
    this.record = record;
    this.meta = meta;
    this.columns = decoded.columns;
    this.switches = decoded.switches ?? [];
    this.found = new FaultList(meta.faultsMax);
    for (const placed of placeFaults(decoded, meta.workspace)) this.found.add(() => placed);
    this.groupKeys = this.columns.run.keys.map((run) => toGroupKey(meta.workspace, run));
    for (const [code, run] of this.columns.run.keys.entries())
      if (run !== "") this.noteGroup(run, this.groupKeys[code] as GroupKey);
  }

  get faults(): PlacedFault[] {
    return this.found.toArray((first, count) => ({ ...first, fault: toRestFault(first.fault, count) }));
  }

  takeEvents(): void {
    const { columns } = this;
    const runs = columns.run.codes;
    const workers = columns.worker.codes;
    const types = columns.type.codes;
    const seqs = columns.seq.words;
    const times = columns.tsNs.words;
    const startCode = columns.type.keys.indexOf("run_start");
    const controlCodes = ["ack", "command"].map((type) => columns.type.keys.indexOf(type));
    const noRun = columns.run.keys.indexOf("");
    let stream: WorkerStream | undefined;
    let streamKey = -1;
    for (let event = 0; event < columns.length; event++) {
      if (runs[event] === noRun) {
        // An ack before any run_start belongs to the connection and to no run.
        this.markDropped(event);
        continue;
      }
      const type = types[event] as number;
      const key = (runs[event] as number) * 2 * columns.worker.keys.length + (workers[event] as number) * 2;
      const wanted = controlCodes.includes(type) ? key + 1 : key;
      if (wanted !== streamKey || stream === undefined) {
        stream = this.streamOf(wanted, event);
        streamKey = wanted;
      }
      const seqLow = seqs[event * 2] as number;
      const seqHigh = seqs[event * 2 + 1] as number;
      const tsLow = times[event * 2] as number;
      const tsHigh = times[event * 2 + 1] as number;
      const verdict = stream.ids.add(seqLow, seqHigh, tsLow, tsHigh, columns.hash.at(event));
      if (verdict === "new") this.accepted++;
      else this.drop(event, verdict === "conflict");
      if (stream.isControl) continue;
      if (type === startCode) stream.range = undefined;
      this.note(stream, verdict === "new", seqLow, seqHigh, tsLow, tsHigh);
    }
  }

  /** Fills the columns about the arrival and those that repeat the event's own. */
  *fill(owned: AnyOwnedRows): Generator<void, AnyTablePart> {
    const { columns, meta } = this;
    const { event, rows } = owned;
    const count = event.length;
    const events = event.values;
    mapCodes(rows.group_key, this.groupKeys, columns.run.codes, events, count);
    mapCodes(rows.worker, columns.worker.keys, columns.worker.codes, events, count);
    yield;
    gatherWords(rows.ts_ns, columns.tsNs, events, count);
    yield;
    gatherWords(rows.seq, columns.seq, events, count);
    yield;
    rows.received_ns.padTo(count, meta.receivedNs);
    rows.jpos.padTo(count, BigInt(meta.position));
    rows.jrow.reserve(count);
    rows.jrow.values.set(events.subarray(0, count));
    rows.jrow.length = count;
    yield;
    rows.flags.padTo(count, 0);
    rows.extra.padTo(count);
    rows.raw.padTo(count);
    fillConstants(owned, count);
    return { table: owned.table, rows, dropped: this.droppedRows(events, count) } as AnyTablePart;
  }

  /** Rows that belong to no single event: sequence ranges and faults. */
  ownParts(): AnyTablePart[] {
    const faults = toFaultParts(this.faults, "xtrack", this.meta, this.state.faults);
    return this.ranges.length === 0 ? faults : [this.toRangeRows(), ...faults];
  }

  private toRangeRows(): AnyTablePart {
    const rows = createRows("seq_ranges");
    for (const range of this.ranges) range.pushTo(rows);
    rows.received_ns.padTo(this.ranges.length, this.meta.receivedNs);
    rows.jpos.padTo(this.ranges.length, BigInt(this.meta.position));
    for (let row = 0; row < this.ranges.length; row++) rows.jrow.push(row);
    return { table: "seq_ranges", rows, dropped: null };
  }

  private streamOf(key: number, event: number): WorkerStream {
    let stream = this.streams.get(key);
    if (stream === undefined) {
      const groupKey = this.groupKeys[this.columns.run.codes[event] as number] as GroupKey;
      const worker = this.columns.worker.at(event);
      const isControl = key % 2 === 1;
      // A worker counts its acks apart from its events, so their identities are apart too.
      const ids = this.state.groups.eventsOf(groupKey, isControl ? `${worker}\0control` : worker, this.meta.position);
      stream = { groupKey, worker, isControl, ids, range: undefined };
      this.streams.set(key, stream);
    }
    return stream;
  }

  private note(
    stream: WorkerStream,
    isNew: boolean,
    seqLow: number,
    seqHigh: number,
    tsLow: number,
    tsHigh: number,
  ): void {
    const { range } = stream;
    if (!isNew && range !== undefined) range.duplicates++;
    else if (!range?.extend(seqLow, seqHigh, tsLow, tsHigh)) {
      const begun = new SeqRange(stream.groupKey, stream.worker, seqLow, seqHigh, tsLow, tsHigh);
      if (isNew) begun.events++;
      else begun.duplicates++;
      this.ranges.push(begun);
      stream.range = begun;
    }
  }

  private markDropped(event: number): void {
    this.dropped ??= new Uint8Array(this.columns.length);
    this.dropped[event] = 1;
  }

  private drop(event: number, isConflict: boolean): void {
    this.markDropped(event);
    this.duplicates++;
    if (!isConflict) return;
    this.found.add(() => this.toConflict(event));
  }

  private toConflict(event: number): PlacedFault {
    const { columns, record } = this;
    const offset = columns.offset.at(event);
    const place = { ...(record.file === "" ? {} : { file: record.file }), offset };
    const detail = `another event of run ${columns.run.at(event)} has sequence number ${columns.seq.at(event)} and the same time`;
    const from = this.switches.findLast((stream) => stream.event <= event) ?? { ...record, at: 0 };
    const raw = frameAt(record.body.subarray(from.at), from.offset, offset).subarray(4);
    const fault: Fault = { code: "identity_conflict", detail, place, raw };
    return { fault, groupKey: this.groupKeys[columns.run.codes[event] as number] as string };
  }

  private droppedRows(events: Uint32Array, count: number): Uint8Array | null {
    const { dropped } = this;
    if (dropped === null) return null;
    const rows = new Uint8Array(count);
    for (let row = 0; row < count; row++) rows[row] = dropped[events[row] as number] as number;
    return rows;
  }

  private noteGroup(run: string, groupKey: GroupKey): void {
    const { workspace, runOverride, imported, receivedNs } = this.meta;
    const cause = { workspace, protocol: "xtrack" as const, ownId: run, runOverride, imported, receivedNs };
    for (const change of this.state.groups.note(groupKey, cause, this.meta.position)) this.changes.push(change);
  }
}

/** The events of one worker within one record. */
interface WorkerStream {
  readonly groupKey: string;
  readonly worker: string;
  /** Acks and commands, whose numbers are not those of the run's events. */
  readonly isControl: boolean;
  readonly ids: SeqSet;
  range: SeqRange | undefined;
}

/** Fills the empty column with texts[codes[events[row]]], with one dictionary look-up per text. */
function mapCodes(
  column: DictColumn,
  texts: readonly string[],
  codes: Uint32Array,
  events: Uint32Array,
  count: number,
): void {
  const targets = Uint32Array.from(texts, (text) => column.intern(text));
  column.reserve(count);
  const out = column.codes;
  for (let row = 0; row < count; row++) out[row] = targets[codes[events[row] as number] as number] as number;
  column.length = count;
}

function gatherWords(column: Int64Column, from: Int64Column, events: Uint32Array, count: number): void {
  const { words } = from;
  column.reserve(count);
  const out = column.words;
  for (let row = 0; row < count; row++) {
    const at = (events[row] as number) * 2;
    out[row * 2] = words[at] as number;
    out[row * 2 + 1] = words[at + 1] as number;
  }
  column.length = count;
}

function fillConstants(owned: AnyOwnedRows, count: number): void {
  switch (owned.table) {
    case "metrics":
      owned.rows.source.padTo(count, "xtrack");
      owned.rows.step_text.padTo(count);
      owned.rows.value_text.padTo(count);
      owned.rows.mark_id.padTo(count);
      owned.rows.span_id.padTo(count);
      break;
    case "logs":
      owned.rows.stream.padTo(count, "");
      owned.rows.offset.padTo(count, 0n);
      owned.rows.origin.padTo(count, "");
      break;
    case "events":
      owned.rows.protocol.padTo(count, "xtrack");
      owned.rows.event_id.padTo(count);
      break;
    case "params":
      break;
  }
}

// Sequence numbers as they came, folded into ranges, so that gaps are found from a few rows instead of all events.
// A range continues while numbers grow by one and times do not go backwards; a run_start always begins one.

const two32 = 4294967296;

class SeqRange {
  events = 0;
  duplicates = 0;
  private readonly worker: string;
  private readonly groupKey: string;
  // First and last, each as low and high word.
  private readonly firstSeq: readonly [number, number];
  private readonly firstTs: readonly [number, number];
  private lastSeqLow: number;
  private lastSeqHigh: number;
  private lastTsLow: number;
  private lastTsHigh: number;

  constructor(groupKey: string, worker: string, seqLow: number, seqHigh: number, tsLow: number, tsHigh: number) {
    this.groupKey = groupKey;
    this.worker = worker;
    this.firstSeq = [seqLow, seqHigh];
    this.firstTs = [tsLow, tsHigh];
    this.lastSeqLow = seqLow;
    this.lastSeqHigh = seqHigh;
    this.lastTsLow = tsLow;
    this.lastTsHigh = tsHigh;
  }

  /** Takes the next event; false when it does not follow the last one. */
  extend(seqLow: number, seqHigh: number, tsLow: number, tsHigh: number): boolean {
    const isNext = seqHigh === this.lastSeqHigh ? seqLow === this.lastSeqLow + 1 : this.isCarry(seqLow, seqHigh);
    const isLater = tsHigh === this.lastTsHigh ? tsLow >= this.lastTsLow : tsHigh > this.lastTsHigh;
    if (!isNext || !isLater) return false;
    this.lastSeqLow = seqLow;
    this.lastSeqHigh = seqHigh;
    this.lastTsLow = tsLow;
    this.lastTsHigh = tsHigh;
    this.events++;
    return true;
  }

  pushTo(rows: Rows<"seq_ranges">): void {
    rows.group_key.push(this.groupKey);
    rows.worker.push(this.worker);
    rows.first_seq.pushWords(...this.firstSeq);
    rows.last_seq.pushWords(this.lastSeqLow, this.lastSeqHigh);
    rows.first_ts_ns.pushWords(...this.firstTs);
    rows.last_ts_ns.pushWords(this.lastTsLow, this.lastTsHigh);
    rows.events.push(this.events);
    rows.duplicates.push(this.duplicates);
  }

  private isCarry(seqLow: number, seqHigh: number): boolean {
    return seqLow === 0 && this.lastSeqLow === two32 - 1 && seqHigh === this.lastSeqHigh + 1;
  }
}
