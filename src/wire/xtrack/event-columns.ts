// The events of some frames as columns: one entry per event, and rows of the fact tables that point back to it.
// Columns that only the place of arrival knows (group_key, received_ns, jpos, jrow) and those that repeat the event's
// own (worker, ts_ns, seq) stay empty here; intake fills them in one pass when it takes the events.

import { DictColumn, Float64Column, Int64Column, UInt32Column } from "#base/columns.ts";
import type { JsonValue } from "#base/json/value.ts";
import { createRows, type Rows } from "#model/tables.ts";

export interface RunStart {
  readonly event: number;
  readonly run: string;
  readonly worker: string;
  /** The client gave no id and this one was made from the frame. */
  readonly generated: boolean;
  /** What this connection says it reads: "ack", "command". */
  readonly accepts: readonly string[];
}

export interface StatusNote {
  readonly event: number;
  readonly run: string;
  readonly worker: string;
  /** `status`, or `run_end` with its final status. */
  readonly type: "status" | "run_end";
  readonly status: string;
}

/** An ack or command that came from a worker. */
export interface ControlNote {
  readonly event: number;
  readonly run: string;
  readonly worker: string;
  readonly type: "ack" | "command";
  readonly payload: { readonly [field: string]: JsonValue };
}

type EventTable = "metrics" | "params" | "logs" | "events";

/** Rows of one table, each belonging to an event. */
export interface OwnedRows<T extends EventTable> {
  readonly table: T;
  readonly rows: Rows<T>;
  readonly event: UInt32Column;
}

export type AnyOwnedRows = { readonly [T in EventTable]: OwnedRows<T> }[EventTable];

export class EventColumns {
  readonly run: DictColumn = new DictColumn();
  readonly worker: DictColumn = new DictColumn();
  readonly type: DictColumn = new DictColumn();
  readonly seq: Int64Column = new Int64Column();
  readonly tsNs: Int64Column = new Int64Column();
  /** 32 bits of the content, see content.ts. */
  readonly hash: UInt32Column = new UInt32Column();
  /** Stream offset of the frame. */
  readonly offset: Float64Column = new Float64Column();

  // Most chunks hold events of one kind, so the columns of a table are made when its first row comes.
  private madeMetrics: OwnedRows<"metrics"> | undefined;
  private madeParams: OwnedRows<"params"> | undefined;
  private madeLogs: OwnedRows<"logs"> | undefined;
  private madeEvents: OwnedRows<"events"> | undefined;

  private readonly metricsExpected: number;

  readonly starts: RunStart[] = [];
  readonly statuses: StatusNote[] = [];
  readonly control: ControlNote[] = [];

  /** `before`: the previous columns. Making room for as many events at once saves copying while these grow. */
  constructor(before?: EventColumns) {
    const length = before?.length ?? 0;
    this.metricsExpected = before?.madeMetrics?.event.length ?? 0;
    if (length < expectedMin) return;
    for (const column of [this.run, this.worker, this.type, this.seq, this.tsNs, this.hash, this.offset])
      column.reserve(length + (length >> 3));
  }

  get length(): number {
    return this.seq.length;
  }

  get metricRows(): number {
    return this.madeMetrics?.event.length ?? 0;
  }

  get metrics(): OwnedRows<"metrics"> {
    this.madeMetrics ??= makeMetrics(this.metricsExpected);
    return this.madeMetrics;
  }

  get params(): OwnedRows<"params"> {
    this.madeParams ??= { table: "params", rows: createRows("params"), event: new UInt32Column() };
    return this.madeParams;
  }

  get logs(): OwnedRows<"logs"> {
    this.madeLogs ??= { table: "logs", rows: createRows("logs"), event: new UInt32Column() };
    return this.madeLogs;
  }

  get events(): OwnedRows<"events"> {
    this.madeEvents ??= { table: "events", rows: createRows("events"), event: new UInt32Column() };
    return this.madeEvents;
  }

  /** The tables that have rows. */
  get tables(): AnyOwnedRows[] {
    const made = [this.madeMetrics, this.madeParams, this.madeLogs, this.madeEvents];
    return made.filter((owned) => owned !== undefined);
  }

  /** Gives back the memory of the events' own columns, once the rows of the tables have what they need from them. */
  release(): void {
    for (const column of [this.run, this.worker, this.type, this.seq, this.tsNs, this.hash, this.offset])
      column.release();
    for (const { event } of this.tables) event.release();
  }

  /** `tsUs` must be a safe integer, so that it fits 64 bits as nanoseconds (until the year 2255). */
  pushTime(tsUs: number): void {
    const high = Math.floor(tsUs / two32);
    const low = (tsUs - high * two32) * 1000;
    const carry = Math.floor(low / two32);
    this.tsNs.pushWords(low - carry * two32, high * 1000 + carry);
  }
}

const two32 = 4294967296;
/** For fewer events, columns grow in a step or two anyway. */
const expectedMin = 64;

function makeMetrics(expected: number): OwnedRows<"metrics"> {
  const owned: OwnedRows<"metrics"> = { table: "metrics", rows: createRows("metrics"), event: new UInt32Column() };
  if (expected >= expectedMin) reserveMetrics(owned, expected + (expected >> 3));
  return owned;
}

/** Makes room in the columns that the fast path writes itself. */
export function reserveMetrics({ rows, event }: OwnedRows<"metrics">, length: number): void {
  if (length > event.values.length) event.reserve(length);
  if (length > rows.key.codes.length) rows.key.reserve(length);
  if (length > rows.phase.codes.length) rows.phase.reserve(length);
  if (length > rows.ctx.codes.length) rows.ctx.reserve(length);
  if (length > rows.entry.values.length) rows.entry.reserve(length);
  if (length > rows.flags.values.length) rows.flags.reserve(length);
  if (length > rows.value.nulls.values.length) rows.value.nulls.reserve(length);
  if (length > rows.value.inner.values.length) rows.value.inner.reserve(length);
  if (length > rows.step.nulls.values.length) rows.step.nulls.reserve(length);
  if (length * 2 > rows.step.inner.words.length) rows.step.inner.reserve(length);
  if (length > rows.epoch.nulls.values.length) rows.epoch.nulls.reserve(length);
  if (length * 2 > rows.epoch.inner.words.length) rows.epoch.inner.reserve(length);
}
