// What rules saw, and the messages about it.

import type { StateRow } from "#model/state-tables.ts";
import type { Store } from "#store/store.ts";
import { big, int, nullable, readRows, text } from "./native-rows.ts";

const firingRow = {
  firing_id: text,
  workspace: text,
  rule: text,
  kind: text,
  run_id: text,
  at_ns: big,
  step: nullable(big),
  metric: text,
  text,
  evidence: text,
  armed: int,
  fired_ns: big,
  resolved_ns: big,
  actions: text,
  outcome: text,
  version: big,
};

export interface FiringsFilter {
  readonly workspace: string;
  /** Null for all runs. */
  readonly runs: readonly string[] | null;
  readonly rule: string | null;
  readonly limit: number;
}

/** The newest first. */
export function readFirings(store: Store, filter: FiringsFilter): Promise<StateRow<"firings">[]> {
  const { workspace, runs, rule, limit } = filter;
  return readRows(store, firingRow, {
    sql: `SELECT * FROM ${store.database}.firings FINAL WHERE workspace = {workspace:String}
        ${runs === null ? "" : "AND run_id IN {runs:Array(String)}"} ${rule === null ? "" : "AND rule = {rule:String}"}
      ORDER BY fired_ns DESC, firing_id LIMIT {limit:UInt32}`,
    params: { workspace, limit, ...(runs === null ? {} : { runs }), ...(rule === null ? {} : { rule }) },
  });
}

/** Armed firings since a time, of all workspaces: what a restart may have cut off. */
export function readArmedFirings(store: Store, sinceNs: bigint): Promise<StateRow<"firings">[]> {
  return readRows(store, firingRow, {
    sql: `SELECT * FROM ${store.database}.firings FINAL WHERE armed = 1 AND fired_ns > {since:Int64} ORDER BY fired_ns LIMIT 1000`,
    params: { since: sinceNs },
  });
}

export function readFiringsById(store: Store, ids: readonly string[]): Promise<StateRow<"firings">[]> {
  return readRows(store, firingRow, {
    sql: `SELECT * FROM ${store.database}.firings FINAL WHERE firing_id IN {ids:Array(String)}`,
    params: { ids },
  });
}

const deliveryRow = {
  delivery_id: text,
  firing_id: text,
  workspace: text,
  collector: text,
  target: text,
  event: text,
  state: text,
  attempts: int,
  next_ns: big,
  note: text,
  version: big,
};

/** Messages that a collector has still to send. */
export function readQueuedDeliveries(store: Store, collector: string): Promise<StateRow<"deliveries">[]> {
  return readRows(store, deliveryRow, {
    sql: `SELECT * FROM ${store.database}.deliveries FINAL WHERE state = 'queued' AND collector = {collector:String}`,
    params: { collector },
  });
}

export function readDeliveries(store: Store, firings: readonly string[]): Promise<StateRow<"deliveries">[]> {
  return readRows(store, deliveryRow, {
    sql: `SELECT * FROM ${store.database}.deliveries FINAL WHERE firing_id IN {firings:Array(String)} ORDER BY delivery_id`,
    params: { firings },
  });
}
