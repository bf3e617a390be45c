// The reads of a run's records, bound to the store.

import type { RecordReads } from "#api/record-reads.ts";
import { readSequences } from "#store/reader/sequences.ts";
import { readStateEvents } from "#store/reader/xtrack-state.ts";
import type { Store } from "#store/store.ts";

export function createRecordReads(store: Store): RecordReads {
  return {
    sequences: (groups) => readSequences(store, groups),
    stateEvents: (groups) => readStateEvents(store, groups),
  };
}
