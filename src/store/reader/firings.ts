// What rules saw, and the messages about it.

import type { StateRow } from "#model/state-tables.ts";
import type { Store } from "#store/store.ts";
import { readStateRows } from "./state-rows.ts";

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
  return readStateRows(
    store,
    "firings",
    `WHERE workspace = {workspace:String}
        ${runs === null ? "" : "AND run_id IN {runs:Array(String)}"} ${rule === null ? "" : "AND rule = {rule:String}"}
      ORDER BY fired_ns DESC, firing_id LIMIT {limit:UInt32}`,
    { workspace, limit, ...(runs === null ? {} : { runs }), ...(rule === null ? {} : { rule }) },
  );
}

/** Armed firings since a time, of all workspaces: what a restart may have cut off. */
export function readArmedFirings(store: Store, sinceNs: bigint): Promise<StateRow<"firings">[]> {
  const which = "WHERE armed = 1 AND fired_ns > {since:Int64} ORDER BY fired_ns LIMIT 1000";
  return readStateRows(store, "firings", which, { since: sinceNs });
}

/** What is not over, of other rules than these, the oldest first. */
export function readOpenFirings(store: Store, workspace: string, rules: readonly string[]) {
  const which = "WHERE workspace = {workspace:String} AND resolved_ns = 0 AND rule NOT IN {rules:Array(String)}";
  return readStateRows(store, "firings", `${which} ORDER BY fired_ns, firing_id`, { workspace, rules });
}

export function readFiringsById(store: Store, ids: readonly string[]): Promise<StateRow<"firings">[]> {
  return readStateRows(store, "firings", "WHERE firing_id IN {ids:Array(String)} ORDER BY fired_ns", { ids });
}

/** Messages that a collector has still to send; those of a firing before those of its end. */
export function readQueuedDeliveries(store: Store, collector: string): Promise<StateRow<"deliveries">[]> {
  const which = "WHERE state = 'queued' AND collector = {collector:String} ORDER BY delivery_id";
  return readStateRows(store, "deliveries", which, { collector });
}

export function readDeliveries(store: Store, firings: readonly string[]): Promise<StateRow<"deliveries">[]> {
  const which = "WHERE firing_id IN {firings:Array(String)} ORDER BY delivery_id";
  return readStateRows(store, "deliveries", which, { firings });
}
