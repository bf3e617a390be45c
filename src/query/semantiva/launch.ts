// A launch from the facts about it: its verdict, its success, and what its start line says once for all its runs.

import type { LaunchCompleteness, PipelineOutcome } from "#api/contract/pipeline.ts";
import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { atPointer, memberTexts } from "#base/json/pointer.ts";
import type { JsonValue } from "#base/json/value.ts";
import type { LaunchHead } from "#store/reader/launches.ts";
import { judgeLaunch } from "./completeness.ts";
import { judgeLaunchSuccess, type LaunchSuccess, toRunOutcome } from "./success.ts";

export interface JudgedLaunch {
  readonly planned: number | null;
  readonly runs: number;
  readonly completeness: LaunchCompleteness;
  readonly success: LaunchSuccess;
}

export function judgeLaunchHead(head: LaunchHead): JudgedLaunch {
  const runs: Record<PipelineOutcome, number> = { succeeded: 0, failed: 0, interrupted: 0, unfinished: 0 };
  // A run is attached by its start, so all it can lack is its end.
  const runs_by_status = { complete: 0, partial: 0, invalid: 0 };
  for (const group of head.runs) {
    runs[toRunOutcome(group)] += group.count;
    runs_by_status[group.has_end ? "complete" : "partial"] += group.count;
  }
  const total = runs_by_status.complete + runs_by_status.partial;
  const planned = head.planned_runs ?? head.total_runs;
  const { launch_id, attempt, has_start, has_end, outcome } = head;
  return {
    planned,
    runs: total,
    completeness: judgeLaunch({
      launch_id,
      attempt,
      has_start,
      has_end,
      planned_run_count: head.planned_runs,
      runs_by_status,
    }),
    success: judgeLaunchSuccess({ has_end, outcome, planned, started: head.indexes || total, runs }),
  };
}

export interface LaunchStart {
  readonly spec_id: string;
  readonly inputs_id: string;
  readonly combine_mode: string;
  /** Every other field of the line, as strict JSON text. */
  readonly constants: Record<string, string>;
  readonly inputs: { readonly role: string; readonly uri: string; readonly sha256: string }[];
}

/** Fields of the start line that an answer shows under names of their own, or that are the header's. */
const shownElsewhere: ReadonlySet<string> = new Set([
  "record_type",
  "schema_version",
  "run_id",
  "seq",
  "timestamp",
  "run_space_launch_id",
  "run_space_attempt",
  "run_space_spec_id",
  "run_space_inputs_id",
  "run_space_combine_mode",
  "run_space_input_fingerprints",
]);

/** `payload`: the stored start line, '' when it has not arrived. */
export function readLaunchStart(payload: string): LaunchStart {
  const bytes = new TextEncoder().encode(payload);
  const parsed = parseJson(bytes);
  const record: JsonValue = parsed.ok ? parsed.value : null;
  const text = (value: JsonValue, pointer: string) => {
    const found = atPointer(value, pointer);
    return typeof found === "string" ? found : found === undefined ? "" : formatJson(found, "strict");
  };
  const inputs = atPointer(record, "/run_space_input_fingerprints");
  const constants = parsed.ok ? [...memberTexts(bytes, "")] : [];
  return {
    spec_id: text(record, "/run_space_spec_id"),
    inputs_id: text(record, "/run_space_inputs_id"),
    combine_mode: text(record, "/run_space_combine_mode"),
    constants: Object.fromEntries(constants.filter(([name]) => !shownElsewhere.has(name))),
    inputs: (Array.isArray(inputs) ? inputs : []).map((input) => ({
      role: text(input, "/role"),
      uri: text(input, "/uri"),
      sha256: text(input, "/digest/sha256"),
    })),
  };
}
