// Frame payloads to events, for every type and every oddity; the fast path in fast.ts falls back to this.
// An event is taken whole or not at all: everything is checked before the first column is touched.

import { createHash } from "node:crypto";
import { jsonKind } from "#base/json/cursor.ts";
import { lookThrough } from "#base/json/look-through.ts";
import { parseJson, parseJsonInSteps } from "#base/json/parse.ts";
import { type JsonObject, toJsonFault } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import { rowFlags } from "#model/row-flags.ts";
import { hashBytes, hashMetricRows } from "./content.ts";
import { EventColumns } from "./event-columns.ts";
import { type EventParts, pushEventRow, pushLogRow, pushParamRow } from "./event-rows.ts";
import { FastDecoder } from "./fast.ts";
import { type Field, type FieldSet, integerOf, readFields, readFieldsInSteps, StrictTexts, textOf } from "./fields.ts";
import { pushMetricRows } from "./metric-rows.ts";
import { findJsonTrouble, prefixBytes } from "./resync.ts";
import { invalid, missing, RuleCheck, rulesOf, type SchemaViolation } from "./schema.ts";

/** event: pushed onto the columns; auth: see `authKey`; refused: see `refusal`; not_json: the framer must resync. */
export type Outcome = "event" | "auth" | "refused" | "not_json";

/** Why an event was refused, with as much of its identity as could be read. */
export interface RefusedEvent extends SchemaViolation {
  readonly seq: number | bigint | undefined;
  readonly run: string;
  readonly worker: string;
  /** It is an auth frame: its bytes may hold a key and must be kept nowhere. */
  readonly isSecret: boolean;
}

const runIdCharsMax = 1024;

/** A larger frame is decoded with pauses, where the caller can make them. */
export const largeFrameBytes: number = 256 * 1024;

export class EventDecoder {
  /** Where events go. */
  columns: EventColumns = new EventColumns();
  /** The run of the stream's last run_start, which events without an id follow; '' before the first. */
  streamRun: string;
  authKey = "";
  refusal: RefusedEvent | undefined;
  private readonly fast = new FastDecoder();
  /** The event last pushed is of a kind that the fast path can learn. */
  private isMetric = false;

  constructor(streamRun = "") {
    this.streamRun = streamRun;
  }

  /** Later events go to fresh columns. */
  renewColumns(): void {
    this.columns = new EventColumns(this.columns);
  }

  /** Drops all references to the bytes that were decoded last. */
  letGo(): void {
    this.fast.letGo();
  }

  /** Decodes bytes[start..end), the payload of the frame at stream offset `offset`. */
  decode(bytes: Uint8Array, start: number, end: number, offset: number): Outcome {
    const { columns } = this;
    if (this.fast.decode(columns, bytes, start, end, offset)) return "event";
    const outcome = this.decodeAny(bytes, start, end, offset);
    if (outcome === "event" && this.isMetric) this.fast.learn(columns, bytes, start, end);
    return outcome;
  }

  /** The same for a large frame, with pauses. Nothing else may be decoded between them. */
  *decodeLarge(bytes: Uint8Array, start: number, end: number, offset: number): Generator<void, Outcome> {
    try {
      yield* lookThrough(bytes, start, end);
    } catch (error) {
      toJsonFault(error);
      return "not_json";
    }
    return yield* this.decodeInSteps(bytes, start, end, offset);
  }

  /** The general decoder: every type and every oddity. */
  decodeAny(bytes: Uint8Array, start: number, end: number, offset: number): Outcome {
    return atOnce(this.decodeInSteps(bytes, start, end, offset));
  }

  private *decodeInSteps(bytes: Uint8Array, start: number, end: number, offset: number): Generator<void, Outcome> {
    let envelope: FieldSet;
    try {
      envelope = yield* readFieldsInSteps(bytes, start, end);
    } catch (error) {
      toJsonFault(error);
      if (findJsonTrouble(bytes, start, end) !== undefined) return "not_json";
      return this.refuse(invalid("", "a JSON object"), undefined, undefined);
    }
    const parts = yield* this.readEnvelope(envelope);
    if ("code" in parts) {
      const [m, p] = [yield* fieldsAt(envelope, "m"), yield* fieldsAt(envelope, "p")];
      return this.refuse(parts, m, p, isAuth(envelope));
    }
    if (parts.type === "auth") return this.takeAuth(parts);
    const event = this.readEvent(parts, bytes, start, end);
    if ("code" in event) return this.refuse(event, parts.m, parts.p);
    yield* this.push(event, offset);
    return "event";
  }

  private *readEnvelope(envelope: FieldSet): Generator<void, Envelope | SchemaViolation> {
    const { bytes, fields } = envelope;
    for (const name of ["v", "t", "m", "p"]) if (!fields.has(name)) return missing(`/${name}`);
    const [v, t, m, p] = ["v", "t", "m", "p"].map((name) => fields.get(name)) as [Field, Field, Field, Field];
    if (v.kind !== jsonKind.number) return invalid("/v", "the integer 1");
    if (integerOf(bytes, v) !== 1) {
      const version = new TextDecoder().decode(bytes.subarray(v.start, v.end));
      return {
        code: "xtrack_version",
        pointer: "/v",
        detail: `v is ${version}; this collector reads protocol version 1`,
      };
    }
    if (t.kind !== jsonKind.string) return invalid("/t", "a string");
    if (m.kind !== jsonKind.object) return invalid("/m", "an object");
    if (p.kind !== jsonKind.object) return invalid("/p", "an object");
    return {
      type: textOf(bytes, t),
      envelope,
      m: yield* readFieldsInSteps(bytes, m.start, m.end),
      p: yield* readFieldsInSteps(bytes, p.start, p.end),
      payload: p,
    };
  }

  private readEvent(parts: Envelope, bytes: Uint8Array, start: number, end: number): DecodedEvent | SchemaViolation {
    const { m, p, type } = parts;
    const seq = m.fields.get("seq");
    const ts = m.fields.get("ts");
    if (seq === undefined) return missing("/m/seq");
    if (ts === undefined) return missing("/m/ts");
    const seqValue = integerOf(bytes, seq);
    if (seqValue === undefined || seqValue < 0) return invalid("/m/seq", "an integer that is not negative");
    const tsUs = integerOf(bytes, ts);
    if (typeof tsUs !== "number" || tsUs < 0) return invalid("/m/ts", "microseconds since the epoch");
    const wid = readWorker(m);
    if (wid === undefined) return invalid("/m/wid", "a string");
    const rules = rulesOf.get(type);
    const check = new RuleCheck();
    const refusal = rules && check.check(p, rules, "/p");
    if (refusal) return refusal;
    const run = this.readRun(parts, bytes, start, end);
    if ("code" in run) return run;
    let flags = rules === undefined ? rowFlags.unknown_type : 0;
    if (check.unlisted) flags |= rowFlags.unlisted_word;
    // A generated id is made from the bytes, so only they can give it again.
    const isOdd = parts.envelope.duplicates || m.duplicates || wid.isOdd || run.generated;
    const isPayloadOdd = p.duplicates || run.isOdd;
    const row = { ...parts, bytes, start, end, flags, isOdd, isPayloadOdd, strict: new StrictTexts() };
    return { row, run: run.id, generated: run.generated, worker: wid.text, seq: seqValue, tsUs };
  }

  private readRun(parts: Envelope, bytes: Uint8Array, start: number, end: number): RunId | SchemaViolation {
    const { type, p } = parts;
    const id = readRunId(p);
    if ("code" in id) return id;
    if (id.text.length > runIdCharsMax) return invalid("/p/run_id", `at most ${runIdCharsMax} characters long`);
    if (id.text !== "") return { id: id.text, generated: false, isOdd: id.isOdd };
    if (type === "run_start") return { id: generateRunId(bytes, start, end), generated: true, isOdd: true };
    if (this.streamRun !== "" || type === "ack" || type === "command")
      return { id: this.streamRun, generated: false, isOdd: true };
    return missing("/p/run_id");
  }

  private *push(event: DecodedEvent, offset: number): Generator<void, void> {
    const { columns } = this;
    const { row, run, worker } = event;
    const index = columns.length;
    const { type, p } = row;
    if (type === "run_start") {
      this.streamRun = run;
      columns.starts.push({ event: index, run, worker, generated: event.generated, accepts: readAccepts(p) });
    } else if (type === "run_end" || type === "status") {
      columns.statuses.push({
        event: index,
        run,
        worker,
        type,
        status: textOf(p.bytes, p.fields.get("status") as Field),
      });
    } else if (type === "ack" || type === "command") {
      columns.control.push({ event: index, run, worker, type, payload: yield* readPayload(row) });
    }
    columns.run.push(run);
    columns.worker.push(worker);
    columns.type.push(type);
    columns.seq.pushBigInt(BigInt(event.seq));
    columns.pushTime(event.tsUs);
    columns.offset.push(offset);
    this.isMetric = type === "metric" || type === "metric_batch";
    const firstRow = this.isMetric ? columns.metrics.event.length : 0;
    if (this.isMetric) yield* pushMetricRows(columns, row, index);
    else if (type === "param") yield* pushParamRow(columns, row, index);
    else if (type === "log") yield* pushLogRow(columns, row, index);
    else yield* pushEventRow(columns, row, index);
    if (row.end - row.start > largeFrameBytes) yield;
    columns.hash.push(yield* this.hashOf(row, firstRow));
  }

  private *hashOf(row: EventParts, firstRow: number): Generator<void, number> {
    const { metrics } = this.columns;
    if (!this.isMetric || metrics.event.length === firstRow) return hashBytes(row.bytes, row.start, row.end);
    return yield* hashMetricRows(metrics, firstRow, metrics.event.length);
  }

  private takeAuth(parts: Envelope): Outcome {
    const key = parts.p.fields.get("key");
    if (key?.kind !== jsonKind.string)
      return this.refuse(key ? invalid("/p/key", "a string") : missing("/p/key"), parts.m, undefined, true);
    this.authKey = textOf(parts.p.bytes, key);
    return "auth";
  }

  private refuse(
    refusal: SchemaViolation,
    m: FieldSet | undefined,
    p: FieldSet | undefined,
    isSecret = false,
  ): Outcome {
    const seq = m?.fields.get("seq");
    const id = p === undefined ? undefined : readRunId(p);
    const wid = m === undefined ? undefined : readWorker(m);
    this.refusal = {
      ...refusal,
      seq: seq === undefined || m === undefined ? undefined : integerOf(m.bytes, seq),
      run: id === undefined || "code" in id || id.text === "" ? this.streamRun : id.text,
      worker: wid?.text ?? "",
      isSecret,
    };
    return "refused";
  }
}

interface Envelope {
  readonly type: string;
  readonly envelope: FieldSet;
  readonly m: FieldSet;
  readonly p: FieldSet;
  readonly payload: Field;
}

interface DecodedEvent {
  readonly row: EventParts;
  readonly run: string;
  readonly generated: boolean;
  readonly worker: string;
  readonly seq: number | bigint;
  readonly tsUs: number;
}

interface RunId {
  readonly id: string;
  readonly generated: boolean;
  readonly isOdd: boolean;
}

interface OddText {
  readonly text: string;
  /** The text alone does not say what was sent. */
  readonly isOdd: boolean;
}

const absent: OddText = { text: "", isOdd: true };

/** A worker may be a string or, from ranks, a number; undefined when it is neither. */
function readWorker(m: FieldSet): OddText | undefined {
  const field = m.fields.get("wid");
  if (field === undefined) return { text: "", isOdd: false };
  if (field.kind === jsonKind.null) return absent;
  return readIdText(m.bytes, field);
}

/** The id of an event's run; '' when there is none. */
function readRunId(p: FieldSet): OddText | SchemaViolation {
  const field = p.fields.get("run_id");
  if (field === undefined || field.kind === jsonKind.null) return absent;
  if (field.kind !== jsonKind.object)
    return readIdText(p.bytes, field) ?? invalid("/p/run_id", "a string or an object");
  const id = readFields(p.bytes, field.start, field.end).fields.get("id");
  if (id === undefined || id.kind === jsonKind.null) return absent;
  const text = readIdText(p.bytes, id);
  return text === undefined ? invalid("/p/run_id/id", "a string") : { text: text.text, isOdd: true };
}

function readIdText(bytes: Uint8Array, field: Field): OddText | undefined {
  if (field.kind === jsonKind.number)
    return { text: new TextDecoder().decode(bytes.subarray(field.start, field.end)), isOdd: true };
  if (field.kind !== jsonKind.string) return undefined;
  // Half a surrogate pair cannot be written as UTF-8: the JSON escapes stand for it.
  if (field.lone)
    return { text: new TextDecoder().decode(bytes.subarray(field.start + 1, field.end - 1)), isOdd: true };
  const text = textOf(bytes, field);
  return { text, isOdd: text === "" };
}

/** `x-` and 16 hex digits of the frame's SHA-256, so that the same frame gives the same run wherever it is read. */
function generateRunId(bytes: Uint8Array, start: number, end: number): string {
  const prefix = new Uint8Array(prefixBytes);
  new DataView(prefix.buffer).setUint32(0, end - start);
  const digest = createHash("sha256").update(prefix).update(bytes.subarray(start, end)).digest("hex");
  return `x-${digest.slice(0, 16)}`;
}

function readAccepts(p: FieldSet): string[] {
  const field = p.fields.get("accepts");
  if (field?.kind !== jsonKind.array) return [];
  const parsed = parseJson(p.bytes.subarray(field.start, field.end));
  if (!parsed.ok || !Array.isArray(parsed.value)) return [];
  return parsed.value.filter((item) => typeof item === "string");
}

function* readPayload(row: EventParts): Generator<void, JsonObject> {
  const parsed = yield* parseJsonInSteps(row.bytes.subarray(row.payload.start, row.payload.end));
  return parsed.ok ? (parsed.value as JsonObject) : {};
}

function isAuth(envelope: FieldSet): boolean {
  const type = envelope.fields.get("t");
  return type?.kind === jsonKind.string && textOf(envelope.bytes, type) === "auth";
}

function* fieldsAt(envelope: FieldSet, name: string): Generator<void, FieldSet | undefined> {
  const field = envelope.fields.get(name);
  if (field?.kind !== jsonKind.object) return undefined;
  return yield* readFieldsInSteps(envelope.bytes, field.start, field.end);
}
