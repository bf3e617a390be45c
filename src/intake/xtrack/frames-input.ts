// Frames as an input: whole ones, or bytes between frames that could not be understood.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { type DecodedXtrack, decodeXtrack, type XtrackRecord } from "#wire/xtrack/stream.ts";
import { applyXtrack, groupsOf, placeFaults } from "./apply.ts";

export interface XtrackFramesInput extends Input, XtrackRecord {
  readonly kind: "xtrack_frames";
}

export const frameInputs: InputKind<XtrackFramesInput> = {
  kind: "xtrack_frames",
  decode: (input) => toDecodedFrames(input, decodeXtrack(input)),
};

/** For a stream that has decoded its frames already. */
export function toDecodedFrames(record: XtrackRecord, decoded: DecodedXtrack): Decoded {
  return {
    prepare: (state, { workspace }) =>
      state.prepareGroups(groupsOf(decoded, workspace)) ??
      state.prepareFaults(workspace, decoded, placeFaults(decoded, workspace)),
    apply: (state, arrival, position) => applyXtrack(state, record, decoded, { ...arrival, position }),
  };
}
