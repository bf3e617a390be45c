// Frames as an input: whole ones, or bytes between frames that could not be understood.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { type DecodedXtrack, decodeXtrackInSteps, type XtrackRecord } from "#wire/xtrack/stream.ts";
import { applyXtrack, groupsOf, placeFaults } from "./apply.ts";
import { awayWindows } from "./away-windows.ts";

export interface XtrackFramesInput extends Input, XtrackRecord {
  readonly kind: "xtrack_frames";
}

export const frameInputs: InputKind<XtrackFramesInput> = {
  kind: "xtrack_frames",
  *decode(input) {
    return toDecodedFrames(input, yield* decodeXtrackInSteps(input));
  },
};

/** Frames of the usual size have fewer. */
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
