import type { RecordSource } from "#protocol/record-source.ts";
import { xtrackFacts } from "./facts.ts";

const common = { protocol: `'${xtrackFacts.name}'`, worker: "worker", seq: "seq", ts: "ts_ns" } as const;

export const xtrackRecordKinds = {
  metric: {
    ...common,
    table: "metrics",
    where: `source = '${xtrackFacts.name}'`,
    type: "if(entry < 0, 'metric', 'metric_batch')",
    entry: "entry",
    first: "entry <= 0",
    columns: ["key", "phase", "step", "step_text", "epoch", "value", "value_text", "ctx"],
    search: ["key", "phase", "ctx", "value_text"],
  },
  param: {
    ...common,
    table: "params",
    // Params from a pipeline's context are part of its start, those from a resource part of each record that names it.
    where: "seq NOT IN (-1, -2)",
    type: "'param'",
    columns: ["key", "nested_key", "value"],
    search: ["name", "value"],
  },
  log: {
    ...common,
    table: "logs",
    where: "stream = '' AND origin = ''",
    type: "'log'",
    columns: ["level", "msg", "logger", "step", "fields"],
    search: ["msg", "logger", "fields"],
  },
} as const satisfies Record<string, RecordSource>;
