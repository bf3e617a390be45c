// Which group each record of a request belongs to. A run's records are grouped by the hour of their own time: otherwise a
// service that never ends would be one group that memory could never drop.
//
//   <workspace>/o/<run>/<hour since 1970>

import type { Int64Column, UInt32Column } from "#base/columns.ts";
import type { Arrival } from "#intake/input.ts";
import { formatGroupKey, type GroupKey, groupKinds } from "#model/group-key.ts";
import { runOf } from "#wire/otlp/meaning.ts";
import type { Origin } from "#wire/otlp/origin.ts";

export interface PlacedGroup {
  readonly groupKey: GroupKey;
  readonly runId: string;
}

const two32 = 4294967296;
const hourNs = 3_600_000_000_000;

export class Placement {
  readonly groups: PlacedGroup[] = [];
  /** By row: its place in `groups`. */
  readonly groupOf: Uint32Array;

  constructor(
    origins: readonly Origin[],
    origin: UInt32Column,
    times: Int64Column,
    arrival: Arrival,
    mlflowRun: string,
  ) {
    const named = { run: arrival.runOverride ?? "", mlflowRun };
    const runs = origins.map(({ resource }) => runOf(resource, named));
    const known = new Map<string, number>();
    this.groupOf = new Uint32Array(origin.length);
    let lastOrigin = -1;
    let lastHour = -1;
    let last = 0;
    for (let row = 0; row < origin.length; row++) {
      const from = origin.at(row);
      const high = times.words[row * 2 + 1] as number;
      const hour = Math.floor((high * two32 + (times.words[row * 2] as number)) / hourNs);
      if (from !== lastOrigin || hour !== lastHour) {
        lastOrigin = from;
        lastHour = hour;
        last = this.place(known, arrival.workspace, runs[from] as string, hour);
      }
      this.groupOf[row] = last;
    }
  }

  private place(known: Map<string, number>, workspace: string, runId: string, hour: number): number {
    const groupKey = formatGroupKey(workspace, groupKinds.otlpHour, `${runId}/${hour}`);
    const found = known.get(groupKey);
    if (found !== undefined) return found;
    const made = this.groups.push({ groupKey, runId }) - 1;
    known.set(groupKey, made);
    return made;
  }
}
