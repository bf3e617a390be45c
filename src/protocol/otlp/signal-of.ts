// Which of the three signals a file or a line holds.

import { basename } from "node:path";
import type { Signal } from "#wire/otlp/schema.ts";

/** Of a request as JSON, by its first known key. */
export function signalOfText(text: string): Signal | null {
  const key = /"resource(Spans|Metrics|Logs)"\s*:/.exec(text)?.[1];
  return key === undefined ? null : ({ Spans: "traces", Metrics: "metrics", Logs: "logs" } as const)[key as "Spans"];
}

/** Protobuf does not say what it is, so its file name must: `traces.binpb`, `run-1.metrics.binpb`. */
export function signalOfName(path: string): Signal | null {
  return (/(?:^|\.)(traces|metrics|logs)\.binpb$/.exec(basename(path))?.[1] ?? null) as Signal | null;
}
