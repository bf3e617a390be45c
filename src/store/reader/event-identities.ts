// What identifies an XTrack event within its group: worker, sequence number and time. A run may have tens of millions,
// so of a long one only places are read, from the ranges of its numbers.

import type { DecodedBlock } from "#store/native/decode-block.ts";
import type { Store } from "#store/store.ts";
import { big, count, float, list, type RowOf, readRow, readRows, streamNativeBlocks, text } from "./native-rows.ts";

/** An ack or a command of a worker has a number of its own. */
const control = "type IN ('ack', 'command')";

/** `more`: a further condition on the rows of the group. */
function select(store: Store, table: string, more = "", worker = "worker"): string {
  return `SELECT ${worker} AS worker, seq, ts_ns FROM ${store.database}.${table} WHERE group_key = {group:String} ${more}`;
}

/** Events within the times, as blocks. An event of many rows comes once a row: the caller drops copies more cheaply than
 * the engine. */
export function readEventIdentities(
  store: Store,
  groupKey: string,
  window?: { readonly fromNs: bigint; readonly toNs: bigint },
): AsyncIterable<DecodedBlock> {
  const within = window === undefined ? "" : "AND ts_ns BETWEEN {from:Int64} AND {to:Int64}";
  const tables = [
    select(store, "metrics", within),
    select(store, "params", within),
    select(store, "logs", `AND stream = '' ${within}`),
    select(store, "events", `AND NOT ${control} ${within}`),
  ];
  const times = window === undefined ? {} : { from: window.fromNs, to: window.toNs };
  return streamNativeBlocks(store, { sql: tables.join(" UNION ALL "), params: { group: groupKey, ...times } });
}

/** The same of a group's acks and commands, which are marked in the worker's name. */
export function readControlIdentities(store: Store, groupKey: string): AsyncIterable<DecodedBlock> {
  const worker = "toLowCardinality(concat(toString(worker), '\\0control'))";
  return streamNativeBlocks(store, {
    sql: select(store, "events", `AND ${control}`, worker),
    params: { group: groupKey },
  });
}

const outline = { events: count, borders: list(float) };

const bordersMax = 256;

/** How many events a group has, and times that divide them into equal shares. */
export async function readEventOutline(store: Store, groupKey: string): Promise<RowOf<typeof outline>> {
  const levels = Array.from({ length: bordersMax - 1 }, (_, at) => (at + 1) / bordersMax);
  const row = await readRow(store, outline, {
    sql: `SELECT sum(events) AS events, quantiles(${levels.join(", ")})(first_ts_ns) AS borders
      FROM ${store.database}.seq_ranges WHERE group_key = {group:String}`,
    params: { group: groupKey },
  });
  return row ?? { events: 0, borders: [] };
}

const place = { worker: text, share: big, firstSeq: big, lastSeq: big, fromNs: big, toNs: big, events: count };
export type EventPlace = RowOf<typeof place>;

/** The ranges of each worker's events, between one border and the next. */
export function readEventPlaces(store: Store, groupKey: string, borders: readonly bigint[]): Promise<EventPlace[]> {
  return readRows(store, place, {
    sql: `SELECT toString(worker) AS worker, roundDown(first_ts_ns, {borders:Array(Int64)}) AS share,
        min(first_seq) AS firstSeq, max(last_seq) AS lastSeq, min(first_ts_ns) AS fromNs, max(last_ts_ns) AS toNs,
        sum(events) AS events
      FROM ${store.database}.seq_ranges WHERE group_key = {group:String} GROUP BY worker, share`,
    params: { group: groupKey, borders },
  });
}
