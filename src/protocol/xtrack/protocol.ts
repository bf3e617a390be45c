import { frameInputs } from "#intake/xtrack/frames-input.ts";
import type { Protocol } from "#protocol/protocol.ts";
import { xtrackDoors } from "./doors.ts";
import { xtrackFacts } from "./facts.ts";
import { detectXtrack } from "./files.ts";
import { exportedEvent, xtrackRecords } from "./stored-records.ts";

export const xtrack: Protocol = {
  facts: xtrackFacts,
  inputs: [frameInputs],
  doors: xtrackDoors,
  detect: detectXtrack,
  exported: [exportedEvent],
  records: xtrackRecords,
};
