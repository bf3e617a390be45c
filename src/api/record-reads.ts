// What a run received, as the routes of its records ask for it.

import type { WorkerStart } from "#query/xtrack/incarnations.ts";
import type { StateEvent } from "#query/xtrack/run-state.ts";
import type { SeqRangeFact } from "#query/xtrack/sequences.ts";
import type { EventRow } from "./contract/record.ts";

export interface EventRequest {
  readonly groups: readonly string[];
  readonly types: readonly string[];
  readonly protocol: string;
  readonly worker: string | null;
  readonly text: string;
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
  /** The place of the last record of the page before. */
  readonly after: readonly string[] | null;
  readonly descending: boolean;
  readonly limit: number;
}

export interface EventRecord extends Omit<EventRow, "id" | "flags"> {
  readonly groupKey: string;
  readonly jpos: string;
  readonly jrow: number;
  readonly flags: number;
}

export interface AuditRecord {
  readonly at_ns: string;
  readonly by: string;
  readonly action: string;
  readonly target: string;
  readonly detail: string;
}

export interface WorkerEnd {
  readonly groupKey: string;
  readonly worker: string;
  readonly lastNs: string;
}

export interface RecordReads {
  /** The newest first. */
  audit(workspace: string, limit: number, after: readonly (string | number | null)[] | null): Promise<AuditRecord[]>;
  /** JSON text of a setting; null when nobody set it. */
  setting(workspace: string, name: string): Promise<string | null>;
  /** When each XTrack worker was last heard of, by its own clock. */
  workerEnds(groups: readonly string[]): Promise<WorkerEnd[]>;
  /** XTrack's sequence numbers as they came, and the starts that cut them into incarnations. */
  sequences(
    groups: readonly string[],
  ): Promise<{ readonly ranges: readonly SeqRangeFact[]; readonly starts: readonly WorkerStart[] }>;
  /** Every XTrack event with one of these sequence numbers, once. */
  numbered(
    groups: readonly string[],
    seqs: readonly string[],
  ): Promise<
    readonly { readonly groupKey: string; readonly worker: string; readonly seq: string; readonly tsNs: string }[]
  >;
  /** XTrack's starts and ends, best checkpoints and progress. */
  stateEvents(groups: readonly string[]): Promise<readonly StateEvent[]>;
  events(request: EventRequest): Promise<EventRecord[]>;
  /** Counts of what matches without the filter of types. */
  eventTypes(request: EventRequest): Promise<{ readonly type: string; readonly count: number }[]>;
}
