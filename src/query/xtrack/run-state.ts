// What a run's XTrack events say about it as a whole: its best checkpoint, its final metrics, and how long each worker
// took. From stored events only, and the same for any order in which they came.

import { compare } from "#base/compare-text.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "#base/json/value.ts";
import type { StateEvent } from "#store/reader/xtrack-state.ts";
import { Incarnations, toWorkerKey } from "./incarnations.ts";

interface WorkerState {
  readonly groupKey: string;
  readonly worker: string;
  /** Of the latest incarnation; null when its run_end did not come. */
  readonly endNs: bigint | null;
  readonly finalMetrics: JsonObject;
  readonly durations: Durations;
}

interface Durations {
  /** run_start to run_end by the worker's clock. */
  readonly clockNs: bigint | null;
  /** The same by the times at which they arrived here. */
  readonly arrivalNs: bigint | null;
  /** `duration_ms` of run_end. The existing emitter counts it from before its imports, so it may be the longest. */
  readonly saidMs: number | bigint | null;
}

interface BestCheckpoint {
  readonly worker: string;
  readonly tsNs: bigint;
  readonly step: JsonValue;
  readonly path: string;
  readonly bestKey: string;
  readonly metrics: JsonObject;
}

export interface XtrackRunState {
  readonly workers: readonly WorkerState[];
  readonly best: BestCheckpoint | null;
  /** By metric and worker; a run with one worker has one entry each. */
  readonly finalMetrics: ReadonlyMap<string, ReadonlyMap<string, JsonValue>>;
}

export function toRunState(events: Iterable<StateEvent>): XtrackRunState {
  const sorted = [...events].sort(byTime);
  const incarnations = new Incarnations(sorted.filter((event) => event.type === "run_start"));
  const byWorker = Map.groupBy(sorted, (event) => toWorkerKey(event.groupKey, event.worker));
  const workers = [...byWorker.values()]
    .map((own) => toWorkerState(own, incarnations))
    .sort((a, b) => (toWorkerKey(a.groupKey, a.worker) < toWorkerKey(b.groupKey, b.worker) ? -1 : 1));
  return { workers, best: toBest(sorted), finalMetrics: joinFinalMetrics(workers) };
}

/** By the worker's own clock; between workers that says little, so their names decide where times are equal. */
function byTime(a: StateEvent, b: StateEvent): number {
  return compare(a.tsNs, b.tsNs) || compare(a.seq, b.seq) || compare(a.worker, b.worker);
}

function toWorkerState(sorted: readonly StateEvent[], incarnations: Incarnations): WorkerState {
  const { groupKey, worker } = sorted[0] as StateEvent;
  const latest = incarnations.countOf(groupKey, worker);
  const own = sorted.filter((event) => incarnations.of(groupKey, worker, event.tsNs) === latest);
  const start = own.find((event) => event.type === "run_start");
  // An end is sent once; of several the last one counts.
  const end = own.findLast((event) => event.type === "run_end");
  const said = end === undefined ? {} : toObject(end.payload);
  return {
    groupKey,
    worker,
    endNs: end?.tsNs ?? null,
    finalMetrics: isJsonObject(said["final_metrics"]) ? said["final_metrics"] : {},
    durations: {
      clockNs: start !== undefined && end !== undefined ? end.tsNs - start.tsNs : null,
      arrivalNs: start !== undefined && end !== undefined ? end.receivedNs - start.receivedNs : null,
      saidMs:
        typeof said["duration_ms"] === "number" || typeof said["duration_ms"] === "bigint" ? said["duration_ms"] : null,
    },
  };
}

/** The client says which checkpoint is best when it writes it, so the last one it said so of is. */
function toBest(sorted: readonly StateEvent[]): BestCheckpoint | null {
  for (const event of sorted.toReversed()) {
    if (event.type !== "checkpoint") continue;
    const payload = toObject(event.payload);
    if (payload["is_best"] !== true) continue;
    return {
      worker: event.worker,
      tsNs: event.tsNs,
      step: payload["step"] ?? null,
      path: textOf(payload["path"]),
      bestKey: textOf(payload["best_key"]),
      metrics: isJsonObject(payload["metrics"]) ? payload["metrics"] : {},
    };
  }
  return null;
}

function joinFinalMetrics(workers: readonly WorkerState[]): Map<string, Map<string, JsonValue>> {
  const joined = new Map<string, Map<string, JsonValue>>();
  for (const { worker, finalMetrics } of workers) {
    for (const [key, value] of Object.entries(finalMetrics)) {
      const values = joined.get(key) ?? new Map<string, JsonValue>();
      joined.set(key, values.set(worker, value));
    }
  }
  return joined;
}

function toObject(payload: string): JsonObject {
  const parsed = parseJson(payload);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
