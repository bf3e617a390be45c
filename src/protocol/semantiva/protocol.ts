import { lineInputs } from "#intake/semantiva/lines-input.ts";
import type { Protocol } from "#protocol/protocol.ts";
import { semantivaDoors } from "./doors.ts";
import { semantivaFacts } from "./facts.ts";
import { detectSemantiva } from "./files.ts";
import { exportedTraceLine, semantivaRecords } from "./stored-records.ts";

export const semantiva: Protocol = {
  facts: semantivaFacts,
  inputs: [lineInputs],
  doors: semantivaDoors,
  detect: detectSemantiva,
  exported: [exportedTraceLine],
  records: semantivaRecords,
};
