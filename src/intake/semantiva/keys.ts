// What a record belongs to: its run, or its launch. run_space_* lines have the launch id as `run_id`; taking that for a run id
// would invent a run.

import { formatGroupKey, formatLaunchKey, type GroupKey, groupKinds } from "#model/group-key.ts";
import type { Message } from "#wire/semantiva/decode.ts";
import { intAt, textAt } from "./fields.ts";

export interface Keys {
  readonly groupKey: GroupKey;
  /** The run's own id; '' for lines of a launch. */
  readonly runId: string;
  /** The launch that the line belongs to, or to which a start attaches its run; '' for none. */
  readonly launchKey: GroupKey | "";
  readonly launchId: string;
}

let lastWorkspace = "";
let lastRunId = "";
let lastKey: GroupKey = formatGroupKey("", groupKinds.semantivaRun, "");

function toRunKey(workspace: string, runId: string): GroupKey {
  // Lines of one run are mostly adjacent, and reusing the same string saves building and hashing it.
  if (runId !== lastRunId || workspace !== lastWorkspace) {
    lastKey = formatGroupKey(workspace, groupKinds.semantivaRun, runId);
    lastWorkspace = workspace;
    lastRunId = runId;
  }
  return lastKey;
}

/** The group of a faulty line; '' when the line names no possible run. */
export function toFaultKey(workspace: string, runId: string): GroupKey | "" {
  return runId.isWellFormed() && runId !== "" ? toRunKey(workspace, runId) : "";
}

export function toKeys({ type, known, runId, record }: Message, workspace: string): Keys {
  // A node's record is its run's, whatever else it says.
  if (known && type === "ser") return { groupKey: toRunKey(workspace, runId), runId, launchKey: "", launchId: "" };
  const launchId = textAt(record, "run_space_launch_id") ?? "";
  const attempt = intAt(record, "run_space_attempt");
  // Both parts are needed: the same launch id with another attempt is another launch.
  const launchKey = launchId === "" || attempt === undefined ? "" : formatLaunchKey(workspace, launchId, attempt);
  const isLaunchs = launchKey !== "" && (isLaunchType(type) || (!known && runId === launchId));
  if (isLaunchs) return { groupKey: launchKey, runId: "", launchKey, launchId };
  // A run is attached to its launch by its start. Its other lines have no launch: the store looks them up by run.
  const attached = type === "pipeline_start" ? launchKey : "";
  return { groupKey: toRunKey(workspace, runId), runId, launchKey: attached, launchId };
}

function isLaunchType(type: string): boolean {
  return type === "run_space_start" || type === "run_space_end";
}

export function isLifecycleType(type: string): boolean {
  return isLaunchType(type) || type === "pipeline_start" || type === "pipeline_end";
}
