import { exportInputs } from "#intake/otlp/export-input.ts";
import type { Protocol } from "#protocol/protocol.ts";
import { otlpDoors } from "./doors.ts";
import { otlpFacts } from "./facts.ts";
import { detectOtlp } from "./files.ts";
import { exportedRequests, otlpRecords } from "./stored-records.ts";

export const otlp: Protocol = {
  facts: otlpFacts,
  inputs: [exportInputs],
  doors: otlpDoors,
  detect: detectOtlp,
  exported: exportedRequests,
  records: otlpRecords,
};
