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
  /** 32 bits of the frame's bytes, see `hashContent`. */
  readonly hash: UInt32Column = new UInt32Column();
  /** Stream offset of the frame. */
  readonly offset: Float64Column = new Float64Column();

  // Most chunks hold events of one kind, so the columns of a table are made when its first row comes.
  private madeMetrics: OwnedRows<"metrics"> | undefined;
  private madeParams: OwnedRows<"params"> | undefined;
  private madeLogs: OwnedRows<"logs"> | undefined;
  private madeEvents: OwnedRows<"events"> | undefined;

  readonly starts: RunStart[] = [];
  readonly statuses: StatusNote[] = [];
  readonly control: ControlNote[] = [];

  get length(): number {
    return this.seq.length;
  }

  get metrics(): OwnedRows<"metrics"> {
    this.madeMetrics ??= { table: "metrics", rows: createRows("metrics"), event: new UInt32Column() };
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

  /** `tsUs` must be a safe integer, so that it fits 64 bits as nanoseconds (until the year 2255). */
  pushTime(tsUs: number): void {
    const high = Math.floor(tsUs / two32);
    const low = (tsUs - high * two32) * 1000;
    const carry = Math.floor(low / two32);
    this.tsNs.pushWords(low - carry * two32, high * 1000 + carry);
  }
}

const two32 = 4294967296;
/** 32 bits of a frame's bytes, 0 and 1 never among them; the same in the general and the fast decoder. */
export function hashContent(view: DataView, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1) ^ (hash >>> 15);
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x9e3779b1) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  // 0 and 1 mean "no event" and "content not known" where hashes are kept.
  return ((hash ^ (hash >>> 13)) | 2) >>> 0;
}
