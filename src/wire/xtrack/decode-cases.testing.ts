// Shared by the tests of this folder: decodes frames and shows the columns as plain rows.

import { atOnce } from "#base/turns.ts";
import { toCells } from "#model/cells.testing.ts";
import { EventDecoder, type Outcome, type RefusedEvent } from "./decode.ts";
import type { AnyOwnedRows, EventColumns } from "./event-columns.ts";
import { rebuildLog, rebuildMetrics, rebuildOther, rebuildParam, type StoredMetric } from "./rebuild.ts";

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

/** The rows of a table, each with what is its event's own. */
function rowsOf<R>(columns: EventColumns, { rows, event }: Pick<AnyOwnedRows, "rows" | "event">): R[] {
  return Array.from({ length: event.length }, (_, i) => {
    const at = event.at(i);
    const own = { run: columns.run.at(at), worker: columns.worker.at(at), type: columns.type.at(at) };
    return { ...own, seq: columns.seq.at(at), tsNs: columns.tsNs.at(at), ...toCells(rows, i) } as R;
  });
}

interface Flagged {
  readonly flags: number;
}

export type FlaggedMetric = StoredMetric & Flagged & { readonly entry: number };

export function metricsOf(columns: EventColumns): FlaggedMetric[] {
  const { rows, event } = columns.metrics;
  for (const column of [rows.step_text, rows.value_text, rows.extra, rows.raw]) column.padTo(event.length);
  return rowsOf(columns, columns.metrics);
}

export const paramsOf = (columns: EventColumns) =>
  rowsOf<Parameters<typeof rebuildParam>[0] & { name: string; value_num: number | null }>(columns, columns.params);

export const logsOf = (columns: EventColumns) =>
  rowsOf<Parameters<typeof rebuildLog>[0] & Flagged>(columns, columns.logs);

export const othersOf = (columns: EventColumns) =>
  rowsOf<Parameters<typeof rebuildOther>[0] & Flagged>(columns, columns.events);

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
