// The reads of a run's records, bound to the store.

import type { EventRecord, EventRequest, RecordReads } from "#api/record-reads.ts";
import { auditQuery, type SettingRow, settingsQuery } from "#store/reader/admin.ts";
import {
  type Place,
  pageBoundsQuery,
  type RecordRow,
  recordRowsQuery,
  recordTypesQuery,
} from "#store/reader/record-rows.ts";
import { numberedQuery, readSequences, workerEndsQuery } from "#store/reader/sequences.ts";
import { readStateEvents } from "#store/reader/xtrack-state.ts";
import type { Store } from "#store/store.ts";
import { groupRows, toRecordText } from "./record-text.ts";

export function createRecordReads(store: Store): RecordReads {
  return {
    audit: (workspace, limit, after) => store.query(auditQuery(store.database, workspace, limit, after)),
    async setting(workspace, name) {
      const rows = await store.query<SettingRow>(settingsQuery(store.database, name));
      return rows.find((row) => row.workspace === workspace)?.value ?? null;
    },
    sequences: (groups) => readSequences(store, groups),
    workerEnds: (groups) => store.query(workerEndsQuery(store.database, groups)),
    numbered: (groups, seqs) => store.query(numberedQuery(store.database, groups, seqs)),
    stateEvents: (groups) => readStateEvents(store, groups),
    events: (request) => readEvents(store, request),
    eventTypes: (request) => store.query(recordTypesQuery(store.database, request)),
  };
}

/** The places of a page first, from narrow columns; then the rows that lie there. */
async function readEvents(store: Store, request: EventRequest): Promise<EventRecord[]> {
  const { descending, limit, after } = request;
  const page = { descending, limit, after: after === null ? null : ([after[0], after[1]] as unknown as Place) };
  const places = await store.query<{ jpos: string; jrow: number }>(pageBoundsQuery(store.database, request, page));
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ends = [first, last].map(({ jpos, jrow }): Place => [jpos, jrow]) as [Place, Place];
  if (descending) ends.reverse();
  const rows = await store.query<RecordRow>(recordRowsQuery(store.database, request, ends, descending));
  return groupRows(rows).map((record) => {
    const { group_key: groupKey, protocol, type, worker, seq, ts_ns, received_ns, flags, jpos, jrow } = record[0];
    const all = record.reduce((bits, row) => bits | row.flags, flags);
    const head = { groupKey, protocol, type, worker, seq, ts_ns, received_ns };
    return { ...head, ...toRecordText(record), flags: all, jpos, jrow };
  });
}
