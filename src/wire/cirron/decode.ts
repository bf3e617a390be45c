// A Cirron batch from its bytes straight to columns: no object is made per row.
//
// If the whole message is bad (no JSON, no batch, another schema version) it is refused; a bad record is a fault, and the
// other rows are taken. Unknown fields are kept, and so is every value that fits no column.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { endOfValue } from "#base/json/end-of-value.ts";
import { lookThroughNext } from "#base/json/look-through.ts";
import { LongValue, rewriteStrict } from "#base/json/strict.ts";
import { defaultJsonLimits, type JsonFault, type JsonLimits, JsonTrouble, toJsonFault } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import { type Fault, type FaultCode, jsonFaultCodes } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { CirronBatch, DecodeResult } from "./batch.ts";
import { cirronSchemaVersion } from "./encode.ts";
import { padRows } from "./fill.ts";
import { createMarkTable, fillMarks, troubleWithMark } from "./mark-rows.ts";
import { isOtlpProtobuf } from "./otlp.ts";
import type { RecordTrouble } from "./record.ts";
import type { RecordTable } from "./record-table.ts";
import { createSnapshotTable, fillSnapshots, pushStats, readLongStats, troubleWithSnapshot } from "./snapshot-rows.ts";
import { createSpanTable, fillSpans, troubleWithSpan } from "./span-rows.ts";
import { StatsReader } from "./stats.ts";

export function decodeBatch(bytes: Uint8Array, limits: JsonLimits = defaultJsonLimits): DecodeResult {
  return atOnce(decodeBatchInSteps(bytes, limits));
}

/** The same with pauses: decoding a large batch takes longer than others should wait. */
export function* decodeBatchInSteps(
  bytes: Uint8Array,
  limits: JsonLimits = defaultJsonLimits,
): Generator<void, DecodeResult> {
  const scratch = freeScratch.pop() ?? createScratch();
  try {
    return yield* new BatchDecoder(bytes, limits, scratch).decode();
  } catch (error) {
    return { ok: false, refusal: toMessageFault(toJsonFault(error), bytes) };
  } finally {
    scratch.spans.release();
    scratch.marks.release();
    scratch.snapshots.release();
    scratch.stats.release();
    freeScratch.push(scratch);
  }
}

/** The fault for a body that is not JSON. */
function toMessageFault({ kind, reason, offset }: JsonFault, body: Uint8Array): Fault {
  const raw = body.slice();
  if (kind === "syntax" && isOtlpProtobuf(body))
    return { code: "cirron_otlp", detail: "the body is an OTLP export as protobuf", place: {}, raw };
  return { code: jsonFaultCodes[kind], detail: `${reason} (byte ${offset})`, place: { offset }, raw };
}

/** More records than a real batch can have in one body; those beyond it are counted in one fault. */
export const recordsMax = 1_000_000;

const stepRecords = 512;
const stepBytes = 256 * 1024;
/** A larger record is looked through with pauses before it is read. */
const longRecordBytes = 1024 * 1024;

// Memory of the decoder that is reused. There is nearly always one batch at a time, and so one scratch.
const freeScratch: Scratch[] = [];

type Scratch = ReturnType<typeof createScratch>;

function createScratch() {
  const stats = new StatsReader();
  return { stats, spans: createSpanTable(), marks: createMarkTable(), snapshots: createSnapshotTable(stats) };
}

type Table = "spans" | "marks" | "snapshots";

type TableRows = { [T in Table]: Rows<T> };

function isTable(key: string): key is Table {
  return key === "spans" || key === "marks" || key === "snapshots";
}

/** What a table is before its first record: most batches have no snapshots, and making dozens of columns costs more than a span. */
const noRows: Readonly<TableRows> = {
  spans: createRows("spans"),
  marks: createRows("marks"),
  snapshots: createRows("snapshots"),
};

class BatchDecoder {
  private readonly cursor: JsonCursor;
  private readonly bytes: Uint8Array;
  private readonly limits: JsonLimits;
  private batchId: string | null = null;
  private createdNs = 0n;
  private sdkVersion = "";
  /** The version as it was sent; null when the key is missing. */
  private version: string | null = null;
  private readonly tables: TableRows;
  private readonly faults: { [T in Table]: FaultList<Fault> } = {
    spans: new FaultList(),
    marks: new FaultList(),
    snapshots: new FaultList(),
  };
  private readonly scratch: Scratch;
  private records = 0;
  private readonly extra = new Map<string, string>();
  private hasRows = false;
  private hasResourceSpans = false;

  constructor(bytes: Uint8Array, limits: JsonLimits, scratch: Scratch) {
    this.bytes = bytes;
    this.limits = limits;
    this.scratch = scratch;
    this.cursor = new JsonCursor(bytes, 0, bytes.length, limits);
    this.tables = { ...noRows };
  }

  *decode(): Generator<void, DecodeResult> {
    const { cursor } = this;
    if (cursor.peek() !== jsonKind.object) {
      yield* this.skipValue();
      cursor.finish();
      return this.refuse("cirron_not_batch", "a batch is a JSON object");
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const { start, stop } = cursor;
      const key = cursor.text();
      const kind = cursor.peek();
      const from = cursor.pos;
      const isKnown = isTable(key) ? yield* this.readTable(key, kind) : this.readKnown(key, kind);
      if (isKnown) {
        this.extra.delete(key);
        continue;
      }
      cursor.pos = from;
      yield* this.keepExtra(key, start, stop);
    }
    cursor.finish();
    return this.judge();
  }

  private judge(): DecodeResult {
    const { batchId } = this;
    if (batchId === null) {
      if (this.hasResourceSpans)
        return this.refuse(
          "cirron_otlp",
          "the body is an OTLP export as JSON: it has `resourceSpans` and no `batch_id`",
        );
      return this.refuse("cirron_not_batch", "`batch_id` must be a text that is not empty");
    }
    if (this.version !== String(cirronSchemaVersion)) {
      const found = this.version === null ? "it is missing" : `found ${this.version}`;
      return this.refuse("cirron_schema_version", `\`schema_version\` must be ${cirronSchemaVersion}, ${found}`);
    }
    if (!this.hasRows) return this.refuse("cirron_not_batch", "it has none of `spans`, `marks` and `snapshots`");
    const { spans, marks, snapshots } = this.faults;
    const batch: CirronBatch = {
      batchId,
      createdNs: this.createdNs,
      sdkVersion: this.sdkVersion,
      ...this.tables,
      extra: this.extra.size === 0 ? "" : `{${[...this.extra.values()].join(",")}}`,
      faults: [...spans.toArray(toRestFault), ...marks.toArray(toRestFault), ...snapshots.toArray(toRestFault)],
    };
    return { ok: true, batch };
  }

  private refuse(code: FaultCode, detail: string): DecodeResult {
    return { ok: false, refusal: { code, detail, place: {}, raw: this.bytes.slice() } };
  }

  /** Returns false when the key is unknown or its value is not what it should be. */
  private readKnown(key: string, kind: number): boolean {
    switch (key) {
      case "batch_id":
        this.batchId = kind === jsonKind.string ? this.readText() : null;
        if (this.batchId === "") this.batchId = null;
        return this.batchId !== null;
      case "sdk_version":
        this.sdkVersion = kind === jsonKind.string ? this.readText() : "";
        return kind === jsonKind.string;
      case "created_ns": {
        this.createdNs = kind === jsonKind.number ? this.readInteger() : 0n;
        return kind === jsonKind.number && this.createdNs !== 0n;
      }
      case "schema_version":
        if (kind === jsonKind.number) this.version = this.readNumberText();
        return kind === jsonKind.number;
      case "resourceSpans":
        this.hasResourceSpans = true;
        return false;
      default:
        return false;
    }
  }

  /** Passes a value and keeps it as it was sent; `start` and `stop` are where its key stands. */
  private *keepExtra(key: string, start: number, stop: number): Generator<void, void> {
    const { cursor } = this;
    const from = cursor.pos;
    yield* this.skipValue();
    // The refusal shows what was sent, whatever it is.
    if (key === "schema_version") {
      this.version = textDecoder.decode(cursor.bytes.subarray(from, cursor.pos));
      return;
    }
    yield;
    const value = textDecoder.decode(rewriteStrict(cursor.bytes, from, cursor.pos));
    this.extra.set(key, `${textDecoder.decode(cursor.bytes.subarray(start - 1, stop + 1))}:${value}`);
  }

  private readText(): string {
    const { cursor } = this;
    cursor.readString();
    return cursor.text();
  }

  private readNumberText(): string {
    const { cursor } = this;
    cursor.readNumber();
    return textDecoder.decode(cursor.bytes.subarray(cursor.start, cursor.stop));
  }

  private readInteger(): bigint {
    const { cursor } = this;
    cursor.readNumber();
    if (cursor.form !== numberForm.integer) return 0n;
    const value = cursor.number();
    return typeof value === "bigint" ? value : typeof value === "number" ? BigInt(value) : 0n;
  }

  private *readTable(table: Table, kind: number): Generator<void, boolean> {
    // The key is there twice: the last one counts.
    if (this.tables[table].flags.length > 0 || this.faults[table].length > 0) this.restart(table);
    this.hasRows = true;
    if (kind === jsonKind.null) return false;
    if (kind !== jsonKind.array) {
      yield* this.refuseRecord(table, `/${table}`, "must be a list");
      return true;
    }
    // A batch of another version may mean anything by these keys.
    if (this.version !== null && this.version !== String(cirronSchemaVersion)) yield* this.skipValue();
    else if (this.cursor.openArray()) {
      yield* this.readRecords(table, this.scratch[table]);
      const { spans, marks, snapshots } = this.tables;
      if (table === "spans") padRows(table, spans, spans.span_id.length);
      else if (table === "marks") padRows(table, marks, marks.mark_id.length);
      else padRows(table, snapshots, snapshots.snapshot_id.length);
    }
    return true;
  }

  private restart<T extends Table>(table: T): void {
    this.faults[table].clear();
    this.tables[table] = noRows[table];
  }

  /** The columns of a table, made when the first rows come. */
  private own<T extends Table>(table: T): Rows<T> {
    const { tables } = this;
    if (tables[table] === noRows[table]) tables[table] = createRows(table) as TableRows[T];
    return tables[table];
  }

  /** Why the record that was just read cannot be a row. */
  private troubleWith(name: Table, table: RecordTable): RecordTrouble | null {
    if (name === "spans") return troubleWithSpan(table);
    if (name === "marks") return troubleWithMark(table);
    const trouble = troubleWithSnapshot(table);
    const rows = this.own("snapshots");
    if (trouble === null) pushStats(rows, rows.snapshot_id.length + table.count, table, this.scratch.stats);
    return trouble;
  }

  private fill(name: Table, table: RecordTable): void {
    if (name === "spans") fillSpans(this.own("spans"), table);
    else if (name === "marks") fillMarks(this.own("marks"), table);
    else fillSnapshots(this.own("snapshots"), table);
  }

  /** Reads the records of a list; the cursor is at the first. */
  private *readRecords(name: Table, table: RecordTable): Generator<void> {
    const { cursor, bytes } = this;
    table.aim(cursor, new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
    let item = 0;
    let pauseAt = cursor.pos + stepBytes;
    do {
      const pointer = item++;
      if (item % stepRecords === 0 || cursor.pos >= pauseAt) {
        pauseAt = cursor.pos + stepBytes;
        yield;
      }
      if (this.records++ >= recordsMax) {
        yield* this.refuseRecord(
          name,
          `/${name}/${pointer}`,
          `is beyond the ${recordsMax} records that a batch may have`,
        );
        continue;
      }
      if (cursor.peek() !== jsonKind.object) {
        yield* this.refuseRecord(name, `/${name}/${pointer}`, "must be an object");
        continue;
      }
      if (!(this.tryRecord(name, pointer, table) ?? (yield* this.tryLongRecord(name, pointer, table)))) continue;
      const isLong = cursor.pos - (table.recordFrom[table.count] as number) > longRecordBytes;
      if (isLong) yield;
      const trouble = this.troubleWith(name, table);
      if (trouble !== null) {
        const [from, to] = [table.recordFrom[table.count] as number, table.recordTo[table.count] as number];
        const { field, reason } = trouble;
        this.faults[name].add(() => this.toFault(`/${name}/${pointer}/${field}`, reason, from, to));
      } else if (table.keep() || isLong) {
        this.fill(name, table);
        table.clear();
        if (isLong) yield;
      }
    } while (cursor.nextItem());
    if (cursor.pos >= pauseAt) yield;
    if (table.count > 0) this.fill(name, table);
  }

  /** Passes one record. Null when it is too long to be passed at once; then nothing is passed. */
  private tryRecord(name: Table, item: number, table: RecordTable): boolean | null {
    const { cursor } = this;
    const { pos: from, depth } = cursor;
    try {
      table.read(longRecordBytes);
      return true;
    } catch (error) {
      if (!(error instanceof LongValue)) return this.refuseDeep(error, name, item, from, depth);
      cursor.pos = from;
      cursor.depth = depth;
      return null;
    }
  }

  private *tryLongRecord(name: Table, item: number, table: RecordTable): Generator<void, boolean> {
    const { pos: from, depth } = this.cursor;
    yield* this.lookThrough(from);
    try {
      yield* table.readLong();
      if (name === "snapshots") yield* readLongStats(table, this.scratch.stats);
      return true;
    } catch (error) {
      return this.refuseDeep(error, name, item, from, depth);
    }
  }

  /** Passes a record that is nested too deep as bytes and keeps it as a fault; its neighbours are taken. */
  private refuseDeep(error: unknown, name: Table, item: number, from: number, depth: number): false {
    const { cursor, bytes } = this;
    const to = error instanceof JsonTrouble && error.kind === "depth" ? endOfValue(bytes, from) : -1;
    if (to < 0) throw error;
    cursor.pos = to;
    cursor.depth = depth;
    const pointer = `/${name}/${item}`;
    this.faults[name].add(() => this.toFault(pointer, `is ${(error as JsonTrouble).reason}`, from, to));
    return false;
  }

  private *skipValue(): Generator<void, void> {
    const { cursor } = this;
    // A long container is looked through first.
    if (cursor.peek() <= jsonKind.array && cursor.end - cursor.pos > longRecordBytes)
      yield* this.lookThrough(cursor.pos);
    cursor.skipValue();
  }

  /** Looks the next value through with pauses, so that it can be passed at once. Errors in it show when it is passed. */
  private *lookThrough(from: number): Generator<void, void> {
    const { bytes, cursor } = this;
    const ahead = new JsonCursor(bytes, from, cursor.end, this.limits);
    ahead.depth = cursor.depth;
    try {
      yield* lookThroughNext(ahead);
    } catch (error) {
      toJsonFault(error);
    }
    cursor.lookAgain();
  }

  /** Passes a value that is not a record and keeps it as a fault. */
  private *refuseRecord(name: Table, pointer: string, reason: string): Generator<void, void> {
    const from = this.cursor.pos;
    yield* this.skipValue();
    this.faults[name].add(() => this.toFault(pointer, reason, from, this.cursor.pos));
  }

  private toFault(pointer: string, reason: string, from: number, to: number): Fault {
    const raw = this.bytes.slice(from, to);
    return { code: "cirron_record", detail: `${pointer} ${reason}`, place: { offset: from, pointer }, raw };
  }
}

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
