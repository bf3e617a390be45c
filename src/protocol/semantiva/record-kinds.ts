import type { RecordSource } from "#protocol/record-source.ts";
import { semantivaFacts } from "./facts.ts";

export const semantivaRecordKinds = {
  node: {
    table: "nodes",
    protocol: `'${semantivaFacts.name}'`,
    type: "'ser'",
    worker: "''",
    seq: "seq",
    ts: "start_ns",
    columns: ["payload"],
    search: ["payload", "raw"],
  },
} as const satisfies Record<string, RecordSource>;
