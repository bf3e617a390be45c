import type { RecordSource } from "#protocol/record-source.ts";
import { runFacts } from "./facts.ts";

const common = { protocol: `'${runFacts.name}'`, worker: "worker", seq: "seq", ts: "ts_ns" } as const;

export const runRecordKinds = {
  sample: {
    ...common,
    table: "metrics",
    where: "source = 'system'",
    type: "'sample'",
    entry: "entry",
    columns: ["key", "value"],
    search: ["key"],
  },
  output: {
    ...common,
    table: "logs",
    where: "stream != ''",
    type: "'output'",
    seq: "NULL",
    columns: ["msg", "stream", "offset", "base64Encode(raw)"],
    search: ["msg"],
  },
} as const satisfies Record<string, RecordSource>;
