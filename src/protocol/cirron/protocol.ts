import { blobInputs } from "#intake/blob.ts";
import { batchInputs } from "#intake/cirron/batch-input.ts";
import type { Protocol } from "#protocol/protocol.ts";
import { cirronDoors } from "./doors.ts";
import { cirronFacts } from "./facts.ts";
import { detectCirron } from "./files.ts";
import { cirronRecords, exportedBatch } from "./stored-records.ts";

export const cirron: Protocol = {
  facts: cirronFacts,
  inputs: [batchInputs, blobInputs],
  doors: cirronDoors,
  detect: detectCirron,
  exported: [exportedBatch],
  records: cirronRecords,
};
