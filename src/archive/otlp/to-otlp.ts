// Stored records of any protocol → OTLP. Those that came as OTLP go out as they came. Of the others spans and node
// executions become spans, points become gauges, lines become log records, and every other record a log record with its
// type for an event name, so that nothing is left out.

import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import { protocolNamed } from "#protocol/protocols.ts";
import { cellsOf, toDouble } from "#protocol/stored-record.ts";
import type { RecordRow } from "#store/reader/record-rows.ts";
import { parseAttributes } from "#wire/otlp/attribute-values.ts";
import { encodeMessage, type Message } from "#wire/otlp/message.ts";
import { encodeOrigin, type OriginBytes } from "#wire/otlp/origin.ts";
import { type Signal, signals } from "#wire/otlp/schema.ts";

export interface OtlpRecord {
  readonly signal: Signal;
  readonly origin: OriginBytes;
  /** In protobuf. */
  readonly record: Uint8Array;
}

/** The rows of one record. */
export type RecordRows = readonly [RecordRow, ...RecordRow[]];

export class OtlpConverter {
  private readonly run: string;
  private readonly traceId: Uint8Array;
  private readonly origins = new Map<string, OriginBytes>();

  constructor(run: string) {
    this.run = run;
    this.traceId = createHash("sha256").update("trace\0").update(run).digest().subarray(0, 16);
  }

  *convert(rows: RecordRows): Generator<OtlpRecord> {
    const [row] = rows;
    const steps = protocolNamed(row.protocol).records.toOtlp?.(row);
    if (steps !== undefined) {
      const own = atOnce(steps);
      const record = own.bytes ?? encodeMessage(signals[own.signal].record, own.message);
      yield { signal: own.signal, origin: this.originOf(own.origin), record };
      return;
    }
    const origin = this.originOf(JSON.stringify({ resource: this.resourceOf(row), scope: { name: row.protocol } }));
    for (const { signal, message } of this.toMessages(rows))
      yield { signal, origin, record: encodeMessage(signals[signal].record, message) };
  }

  private *toMessages(rows: RecordRows): Generator<{ signal: Signal; message: Message }> {
    const [row] = rows;
    switch (row.kind) {
      case "span":
        yield { signal: "traces", message: this.toSpan(row) };
        return;
      case "node":
        yield* this.toNode(row);
        return;
      case "mark":
        yield* toMark(row);
        return;
      case "metric":
      case "sample":
        for (const one of rows) yield* toPoint(one);
        return;
      case "log": {
        const { level, msg, logger, step, fields } = cellsOf(row, "log");
        const more = { ...(logger ? { logger } : {}), ...(step === null ? {} : { step: BigInt(step) }) };
        const attributes = [...toList(more), ...(fields ? parseAttributes(fields) : [])];
        yield { signal: "logs", message: toLog(row, level ?? "", msg ?? "", attributes) };
        return;
      }
      case "output": {
        const { msg, stream } = cellsOf(row, "output");
        const level = stream === "stderr" ? "error" : "info";
        yield { signal: "logs", message: toLog(row, level, msg ?? "", toList({ stream: stream ?? "" })) };
        return;
      }
      default: {
        // Everything else is its own text.
        const { text } = atOnce(protocolNamed(row.protocol).records.toText(rows));
        yield {
          signal: "logs",
          message: { ...toLog(row, "info", text.join(""), []), eventName: `${row.protocol}.${row.type}` },
        };
      }
    }
  }

  private toSpan(row: RecordRow): Message {
    const { span_id, parent_id, name, start_ns, end_ns, ...cells } = cellsOf(row, "span");
    const numbers = { "cirron.index": cells.index, "cirron.gpu_ns": cells.gpu_ns, "cirron.cpu_ns": cells.cpu_ns };
    const ids = { "thread.id": cells.thread_id, "cirron.memory_peak_bytes": cells.memory_peak_bytes };
    const known = Object.entries({ ...numbers, ...ids }).flatMap(([key, value]) =>
      value === null ? [] : [[key, BigInt(value)] as const],
    );
    return {
      traceId: this.traceId,
      spanId: toSpanId(span_id ?? ""),
      ...(parent_id === null ? {} : { parentSpanId: toSpanId(parent_id) }),
      name: name ?? "",
      kind: internalKind,
      ...timesOf(start_ns ?? "0", end_ns ?? "0"),
      attributes: [...toList(Object.fromEntries(known)), ...parseAttributes(cells.attrs || "{}")],
    };
  }

  private *toNode(row: RecordRow): Generator<{ signal: Signal; message: Message }> {
    const payload = JSON.parse(cellsOf(row, "node").payload ?? "{}") as SerPayload;
    const startNs = BigInt(row.ts_ns);
    const wallNs = BigInt(Math.round((payload.timing?.wall_ms ?? 0) * 1e6));
    const message = {
      traceId: this.traceId,
      spanId: toSpanId(`${row.jpos}/${payload.identity?.node_id ?? ""}/${row.ts_ns}`),
      name: payload.processor?.ref ?? payload.identity?.node_id ?? "node",
      kind: internalKind,
      startTimeUnixNano: startNs,
      endTimeUnixNano: startNs + wallNs,
      attributes: toList({ "semantiva.record": cellsOf(row, "node").payload ?? "" }),
      ...(payload.status === "error" ? { status: { code: errorCode, message: payload.error?.message ?? "" } } : {}),
    };
    if (startNs > 0n) yield { signal: "traces", message };
  }

  private resourceOf({ worker, kind }: RecordRow): JsonObject {
    const resource: Record<string, JsonValue> = { "service.name": "tributary", "tributary.run.id": this.run };
    if (worker !== "") resource[kind === "span" ? "dl.rank" : "service.instance.id"] = worker;
    return resource;
  }

  private originOf(payload: string): OriginBytes {
    let origin = this.origins.get(payload);
    if (origin === undefined) {
      if (this.origins.size > originsMax) this.origins.clear();
      origin = encodeOrigin(payload);
      this.origins.set(payload, origin);
    }
    return origin;
  }
}

const originsMax = 1000;
/** Span kind INTERNAL, and status code ERROR. */
const internalKind = 1;
const errorCode = 2;

interface SerPayload {
  readonly identity?: { readonly node_id?: string };
  readonly processor?: { readonly ref?: string };
  readonly timing?: { readonly wall_ms?: number };
  readonly status?: string;
  readonly error?: { readonly message?: string };
}

/** Ids of others are longer than OTLP's, or no hex. */
function toSpanId(id: string): Uint8Array {
  return createHash("sha256").update("span\0").update(id).digest().subarray(0, 8);
}

function timesOf(startNs: string, endNs: string): Message {
  return { startTimeUnixNano: BigInt(startNs), endTimeUnixNano: BigInt(endNs) };
}

function* toMark(row: RecordRow): Generator<{ signal: Signal; message: Message }> {
  const { name, value_float, value_int, value_bool, value_string, ts_ns, attrs, span_id } = cellsOf(row, "mark");
  const attributes = [...parseAttributes(attrs || "{}"), ...toList({ "cirron.span_id": span_id ?? "" })];
  const number = toDouble(value_float ?? value_int ?? value_bool);
  if (number === null) {
    yield { signal: "logs", message: { ...toLog(row, "info", value_string ?? "", attributes), eventName: name ?? "" } };
    return;
  }
  const exact = value_int === null ? { asDouble: number } : { asInt: BigInt(value_int) };
  yield gaugeOf(name ?? "", { timeUnixNano: BigInt(ts_ns ?? "0"), ...exact, attributes });
}

function* toPoint(row: RecordRow): Generator<{ signal: Signal; message: Message }> {
  const cells = row.kind === "sample" ? { ...noPlace, ...cellsOf(row, "sample") } : cellsOf(row, "metric");
  const value = toDouble(cells.value);
  if (value === null) return;
  const places = {
    ...(cells.step === null ? {} : { step: BigInt(cells.step) }),
    ...(cells.epoch === null ? {} : { epoch: BigInt(cells.epoch) }),
    ...(cells.phase ? { phase: cells.phase } : {}),
  };
  yield gaugeOf(cells.key ?? "", { timeUnixNano: BigInt(row.ts_ns), asDouble: value, attributes: toList(places) });
}

const noPlace = { step: null, epoch: null, phase: null };

function gaugeOf(name: string, point: Message): { signal: Signal; message: Message } {
  return { signal: "metrics", message: { name, gauge: { dataPoints: [point] } } };
}

const severities: Readonly<Record<string, number>> = {
  debug: 5,
  info: 9,
  warning: 13,
  warn: 13,
  error: 17,
  critical: 21,
};

function toLog({ ts_ns }: RecordRow, level: string, body: string, attributes: Message[]): Message {
  return {
    timeUnixNano: BigInt(ts_ns),
    severityNumber: severities[level] ?? 0,
    severityText: level,
    body: { stringValue: body },
    ...(attributes.length === 0 ? {} : { attributes }),
  };
}

function toList(attributes: Readonly<Record<string, string | bigint>>): Message[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: value },
  }));
}
