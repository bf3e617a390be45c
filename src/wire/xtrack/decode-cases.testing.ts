// Shared by the tests of this folder: decodes frames and shows the columns as plain rows.

import { atOnce } from "#base/turns.ts";
import { EventDecoder, type Outcome, type RefusedEvent } from "./decode.ts";
import type { EventColumns } from "./event-columns.ts";
import {
  rebuildLog,
  rebuildMetrics,
  rebuildOther,
  rebuildParam,
  type StoredLog,
  type StoredMetric,
  type StoredOther,
  type StoredParam,
  type StoredRow,
} from "./rebuild.ts";

const textEncoder = new TextEncoder();

export interface DecodeResult {
  readonly columns: EventColumns;
  readonly outcomes: readonly Outcome[];
  readonly refusals: readonly RefusedEvent[];
  readonly decoder: EventDecoder;
}

/** Decodes payloads one after the other, as the frames of one stream. */
export function decodeAll(payloads: readonly string[], decoder: EventDecoder = new EventDecoder()): DecodeResult {
  const refusals: RefusedEvent[] = [];
  const outcomes = payloads.map((payload, i) => {
    const bytes = textEncoder.encode(`....${payload}....`);
    const outcome = decoder.decode(bytes, 4, bytes.length - 4, i);
    if (outcome === "refused" && decoder.refusal !== undefined) refusals.push(decoder.refusal);
    return outcome;
  });
  return { columns: decoder.columns, outcomes, refusals, decoder };
}

/** The refusal of one payload, which must be refused. */
export function refusalOf(payload: string): RefusedEvent {
  const { refusals, outcomes } = decodeAll([payload]);
  if (refusals[0] === undefined) throw new Error(`not refused: ${outcomes[0]}`);
  return refusals[0];
}

interface Readable<T> {
  readonly inner: { at(row: number): T };
  isNull(row: number): boolean;
}

function nullable<T>(column: Readable<T>, row: number): T | null {
  return column.isNull(row) ? null : column.inner.at(row);
}

function identity(columns: EventColumns, event: number): Pick<StoredRow, "run" | "worker" | "seq" | "tsNs"> {
  return {
    run: columns.run.at(event),
    worker: columns.worker.at(event),
    seq: columns.seq.at(event),
    tsNs: columns.tsNs.at(event),
  };
}

export type FlaggedMetric = StoredMetric & { readonly entry: number; readonly flags: number };

export function metricsOf(columns: EventColumns): FlaggedMetric[] {
  const { rows, event } = columns.metrics;
  for (const column of [rows.step_text, rows.value_text, rows.extra, rows.raw]) column.padTo(event.length);
  return Array.from({ length: event.length }, (_, i) => ({
    ...identity(columns, event.at(i)),
    type: columns.type.at(event.at(i)) as "metric",
    key: rows.key.at(i),
    phase: rows.phase.at(i),
    step: nullable(rows.step, i),
    stepText: rows.step_text.at(i),
    epoch: nullable(rows.epoch, i),
    value: nullable(rows.value, i),
    valueText: rows.value_text.at(i),
    ctx: rows.ctx.at(i),
    extra: rows.extra.at(i),
    raw: rows.raw.at(i),
    entry: rows.entry.at(i),
    flags: rows.flags.at(i),
  }));
}

export function paramsOf(columns: EventColumns): (StoredParam & { name: string; valueNum: number | null })[] {
  const { rows, event } = columns.params;
  return Array.from({ length: event.length }, (_, i) => ({
    ...identity(columns, event.at(i)),
    type: "param" as const,
    name: rows.name.at(i),
    key: rows.key.at(i),
    nestedKey: rows.nested_key.at(i),
    value: rows.value.at(i),
    valueNum: nullable(rows.value_num, i),
    extra: rows.extra.at(i),
    raw: rows.raw.at(i),
  }));
}

export function logsOf(columns: EventColumns): (StoredLog & { flags: number })[] {
  const { rows, event } = columns.logs;
  return Array.from({ length: event.length }, (_, i) => ({
    ...identity(columns, event.at(i)),
    type: "log" as const,
    level: rows.level.at(i),
    msg: rows.msg.at(i),
    logger: rows.logger.at(i),
    step: nullable(rows.step, i),
    fields: rows.fields.at(i),
    extra: rows.extra.at(i),
    raw: rows.raw.at(i),
    flags: rows.flags.at(i),
  }));
}

export function othersOf(columns: EventColumns): (StoredOther & { flags: number })[] {
  const { rows, event } = columns.events;
  return Array.from({ length: event.length }, (_, i) => ({
    ...identity(columns, event.at(i)),
    type: rows.type.at(i),
    payload: rows.payload.at(i),
    extra: rows.extra.at(i),
    raw: rows.raw.at(i),
    flags: rows.flags.at(i),
  }));
}

/** Every event's JSON text again, in the order of the events. */
export function rebuildAll(columns: EventColumns): string[] {
  const texts: string[] = new Array(columns.length).fill("");
  const metrics = metricsOf(columns);
  metrics.forEach((row, i) => {
    const event = columns.metrics.event.at(i);
    if (row.entry > 0) return;
    const rest = metrics.filter((other, j) => columns.metrics.event.at(j) === event && other.entry > 0);
    texts[event] = atOnce(rebuildMetrics([row, ...rest])).join("");
  });
  for (const [i, row] of paramsOf(columns).entries())
    texts[columns.params.event.at(i)] = atOnce(rebuildParam(row)).join("");
  for (const [i, row] of logsOf(columns).entries()) texts[columns.logs.event.at(i)] = atOnce(rebuildLog(row)).join("");
  for (const [i, row] of othersOf(columns).entries())
    texts[columns.events.event.at(i)] = atOnce(rebuildOther(row)).join("");
  return texts;
}
