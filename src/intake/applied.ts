// What one input became when it was applied: rows for the writer, counts for the answer.

import type { AnyTablePart } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import type { StateChange } from "#model/state-tables.ts";

export interface Applied {
  readonly parts: readonly AnyTablePart[];
  readonly state: readonly StateChange[];
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: readonly Fault[];
}

export const nothingApplied: Applied = { parts: [], state: [], accepted: 0, duplicates: 0, faults: [] };
