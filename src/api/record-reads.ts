// What a run received, as the routes of its records ask for it.

import type { WorkerStart } from "#query/xtrack/incarnations.ts";
import type { StateEvent } from "#query/xtrack/run-state.ts";
import type { SeqRangeFact } from "#query/xtrack/sequences.ts";

export interface RecordReads {
  /** XTrack's sequence numbers as they came, and the starts that cut them into incarnations. */
  sequences(
    groups: readonly string[],
  ): Promise<{ readonly ranges: readonly SeqRangeFact[]; readonly starts: readonly WorkerStart[] }>;
  /** XTrack's starts and ends, best checkpoints and progress. */
  stateEvents(groups: readonly string[]): Promise<readonly StateEvent[]>;
}
