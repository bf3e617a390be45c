// Whole frames as an input, and notes of bytes between them that could not be understood.

import type { AwayEvents, TimeWindow } from "#intake/away-events.ts";
import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import type { KnownGroups } from "#intake/known-groups.ts";
import { toDouble } from "#intake/seq-set.ts";
import type { GroupKey } from "#model/group-key.ts";
import type { EventColumns } from "#wire/xtrack/event-columns.ts";
import { type DecodedXtrack, decodeXtrackInSteps, type XtrackRecord } from "#wire/xtrack/stream.ts";
import { applyXtrack, groupsOf, placeFaults } from "./apply.ts";
import { toGroupKey } from "./group-keys.ts";

export interface XtrackFramesInput extends Input, XtrackRecord {
  readonly kind: "xtrack_frames";
}

export const frameInputs: InputKind<XtrackFramesInput> = {
  kind: "xtrack_frames",
  *decode(input) {
    return toDecodedFrames(input, yield* decodeXtrackInSteps(input));
  },
};

/** Inputs with fewer rows, as nearly all are, are applied at once. */
const rowsAtOnce = 100_000;

/** For a stream that has decoded its frames already. */
export function toDecodedFrames(record: XtrackRecord, decoded: DecodedXtrack): Decoded {
  return {
    prepare: (state, { workspace }) =>
      state.prepareGroups(groupsOf(decoded, workspace)) ??
      state.prepareEvents(awayWindows(state.groups, decoded, workspace)) ??
      state.prepareFaults(workspace, decoded, placeFaults(decoded, workspace)),
    apply: (state, arrival, position) => applyXtrack(state, record, decoded, { ...arrival, position }),
    isLong: decoded.columns.metricRows >= rowsAtOnce,
  };
}

/** By group, the stored events that must be read back before the input is applied. Nearly always none: new events are later. */
function awayWindows(
  groups: KnownGroups,
  { columns }: DecodedXtrack,
  workspace: string,
): Map<GroupKey, Set<TimeWindow>> {
  const windows = new Map<GroupKey, Set<TimeWindow>>();
  for (const [code, run] of columns.run.keys.entries()) {
    if (run === "") continue;
    const key = toGroupKey(workspace, run);
    if (!groups.hasAway(key)) continue;
    const away = columns.worker.keys.map((worker) => groups.awayOf(key, worker));
    const found = windowsOf(columns, code, away);
    if (found.size > 0) windows.set(key, found);
  }
  return windows;
}

/** Acks and commands have their own numbers and are never dropped; one with the number of a dropped event costs a question. */
function windowsOf(columns: EventColumns, runCode: number, away: readonly (AwayEvents | undefined)[]): Set<TimeWindow> {
  const found = new Set<TimeWindow>();
  const runs = columns.run.codes;
  const workers = columns.worker.codes;
  const seqs = columns.seq.words;
  const times = columns.tsNs.words;
  for (let event = 0; event < columns.length; event++) {
    if (runs[event] !== runCode) continue;
    const window = away[workers[event] as number]?.windowOf(
      toDouble(seqs[event * 2] as number, seqs[event * 2 + 1] as number),
      toDouble(times[event * 2] as number, times[event * 2 + 1] as number),
    );
    if (window !== undefined) found.add(window);
  }
  return found;
}
