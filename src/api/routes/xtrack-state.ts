// What XTrack's events say about a run as a whole, in the words of the contract.

import type { Run } from "#api/contract/run.ts";
import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";
import { toRunState } from "#query/xtrack/run-state.ts";

type Finals = Run["final_metrics"];

export function toXtrackState(
  events: Parameters<typeof toRunState>[0],
): Pick<Run, "final_metrics" | "best_checkpoint" | "durations"> {
  const state = toRunState(events);
  const { best } = state;
  const finals = [...state.finalMetrics].map(([key, values]) => [key, [...values.values()][0] ?? null] as const);
  return {
    final_metrics: toFloats(finals),
    best_checkpoint: best && {
      step: toInt64(best.step),
      path: best.path,
      best_key: best.bestKey,
      metrics: toFloats(Object.entries(best.metrics as JsonObject)),
      worker: best.worker,
      ts_ns: best.tsNs.toString(),
    },
    durations: state.workers
      .filter((worker) => worker.endNs !== null)
      .map(({ worker, durations }) => ({
        worker,
        clock_ns: durations.clockNs?.toString() ?? null,
        arrival_ns: durations.arrivalNs?.toString() ?? null,
        said_ms: toInt64(durations.saidMs),
      })),
  };
}

/** Numbers and the words for those that are not finite; other values are in the event itself. */
export function toFloats(values: Iterable<readonly [string, JsonValue]>): Finals {
  const floats: Finals = {};
  for (const [key, value] of values) {
    if (typeof value === "number" || value === "NaN" || value === "Infinity" || value === "-Infinity")
      floats[key] = value;
    else if (typeof value === "bigint") floats[key] = Number(value);
    else if (value instanceof NumberText && Number.isFinite(Number(value.text))) floats[key] = Number(value.text);
  }
  return floats;
}

function toInt64(value: JsonValue): string | null {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value).toString() : null;
}
