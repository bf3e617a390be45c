// A page of everything that a run received, each record with its text.

import { rowFlags } from "#model/tables.ts";
import { findSeqConflicts } from "#query/xtrack/seq-conflicts.ts";
import { type RecordPage, type RecordRow, readRecordPage, readRecordTypes } from "#store/reader/record-rows.ts";
import type { Store } from "#store/store.ts";
import { groupRows, toRecordText } from "./record-text.ts";

/** In the order of arrival, and how many match by type. */
export async function listEvents(store: Store, page: RecordPage) {
  const [rows, types] = await Promise.all([readRecordPage(store, page), readRecordTypes(store, page)]);
  const events = groupRows(rows).map(toEvent);
  const conflicts = await findSeqConflicts(store, page.groups, events);
  return {
    events: events.map((event) =>
      conflicts.has(event) ? { ...event, flags: event.flags | rowFlags.seq_conflict } : event,
    ),
    types: Object.fromEntries(types.map(({ type, count }) => [type, count])),
  };
}

function toEvent(record: [RecordRow, ...RecordRow[]]) {
  const { group_key: groupKey, protocol, type, worker, seq, ts_ns, received_ns, jpos, jrow } = record[0];
  const flags = record.reduce((bits, row) => bits | row.flags, 0);
  const head = { groupKey, protocol, type, worker, seq, ts_ns, received_ns, flags, jpos, jrow };
  return { ...head, ...toRecordText(record) };
}
