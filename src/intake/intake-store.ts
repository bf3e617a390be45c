// What intake asks of the store. While the store is away, every answer waits: a record that cannot be looked up yet is not
// applied, and stays in the journal.

import type { GroupKey } from "#model/group-key.ts";
import type { GroupName } from "#model/names.ts";
import type { StateRow } from "#model/state-tables.ts";
import type { TimeWindow } from "./away-events.ts";
import type { CirronStore } from "./cirron/recall.ts";
import type { LoadingGroup } from "./known-groups.ts";

export interface FaultName {
  readonly groupKey: GroupName;
  readonly code: string;
  readonly id: string;
}

export interface IntakeStore extends CirronStore {
  /** The records of a group and its row. */
  readKnownGroup(
    groupKey: GroupKey,
  ): Promise<{ readonly row: StateRow<"groups"> | null; readonly loading: LoadingGroup }>;
  /** Gives the group all its numbered events within the window. */
  readEvents(groupKey: GroupKey, window: TimeWindow, returning: LoadingGroup): Promise<void>;
  /** Of these faults, the ids of those that are stored. */
  findFaults(workspace: string, faults: readonly FaultName[]): Promise<readonly string[]>;
}
