import { logLineInputs } from "#intake/run/log-lines.ts";
import { wrapperLineInputs } from "#intake/run/wrapper-lines.ts";
import type { Protocol } from "#protocol/protocol.ts";
import { runDoors } from "./doors.ts";
import { runFacts } from "./facts.ts";
import { exportedOutput, exportedWrapperLine, runRecords } from "./stored-records.ts";

/** It has no files: the wrapper keeps what it cannot send in a spool of its own. */
export const run: Protocol = {
  facts: runFacts,
  inputs: [logLineInputs, wrapperLineInputs],
  doors: runDoors,
  detect: () => null,
  exported: [exportedOutput, exportedWrapperLine],
  records: runRecords,
};
