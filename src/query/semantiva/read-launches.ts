// Launches with their verdicts, and one with its plan and members.

import type { PipelineOutcome } from "#api/contract/pipeline.ts";
import { formatLaunchKey } from "#model/group-key.ts";
import type { RunStatus } from "#query/runs/head.ts";
import type { Sources } from "#query/sources.ts";
import * as reader from "#store/reader/launches.ts";
import { judgeLaunchHead, readLaunchStart } from "./launch.ts";

export const statusOfOutcome: Readonly<Record<PipelineOutcome, RunStatus>> = {
  succeeded: "completed",
  failed: "failed",
  interrupted: "killed",
  unfinished: "lost",
};

/** When a launch without an end counts as over. */
export interface Silence {
  readonly nowNs: bigint;
  readonly silenceNs: bigint;
}

export async function listLaunches({ store }: Sources, page: reader.LaunchPage, silence: Silence) {
  const heads = await reader.readLaunches(store, page);
  const last = heads.length === page.limit ? heads.at(-1) : undefined;
  return {
    launches: await summarize(store, page.workspace, heads, silence),
    next: last === undefined ? null : { startNs: last.start_ns, launchKey: last.launch_key },
  };
}

/** Null when there is none. */
export async function readLaunch(
  { store }: Sources,
  { workspace, id, attempt }: { readonly workspace: string; readonly id: string; readonly attempt: number },
  silence: Silence,
) {
  const launchKey = formatLaunchKey(workspace, id, attempt);
  const [launch, starts] = await Promise.all([
    reader.readLaunch(store, launchKey),
    reader.readLaunchStarts(store, [launchKey]),
  ]);
  if (launch === null) return null;
  const [summary] = await summarize(store, workspace, [launch.head], silence);
  return {
    summary: summary as NonNullable<typeof summary>,
    members: launch.members,
    start: readLaunchStart(starts.get(launchKey) ?? ""),
  };
}

async function summarize(
  store: Sources["store"],
  workspace: string,
  heads: readonly reader.LaunchHead[],
  { nowNs, silenceNs }: Silence,
) {
  if (heads.length === 0) return [];
  const launchIds = [...new Set(heads.map((head) => head.launch_id))];
  const [starts, attempts] = await Promise.all([
    reader.readLaunchStarts(
      store,
      heads.map((head) => head.launch_key),
    ),
    reader.readAttempts(store, workspace, launchIds),
  ]);
  return heads.map((head) => {
    const { planned, runs, completeness, success } = judgeLaunchHead(head);
    const isLive = nowNs - head.last_received_ns < silenceNs;
    const statusOf = (outcome: PipelineOutcome) =>
      outcome === "unfinished" && isLive ? "running" : statusOfOutcome[outcome];
    const counts = Object.entries(success.runs) as [PipelineOutcome, number][];
    return {
      id: head.launch_id,
      attempt: head.attempt,
      attempts: attempts.get(head.launch_id) ?? [head.attempt],
      // An end that has arrived ends the launch, whatever its runs left open.
      status: head.has_end && success.outcome === "unfinished" ? "lost" : statusOf(success.outcome),
      status_raw: success.status_raw,
      combine_mode: readLaunchStart(starts.get(head.launch_key) ?? "").combine_mode,
      start_ns: head.start_ns === 0n ? null : head.start_ns.toString(),
      end_ns: head.has_end && head.end_ns !== 0n ? head.end_ns.toString() : null,
      planned,
      runs,
      statuses: {
        ...Object.fromEntries(
          counts.filter(([, count]) => count > 0).map(([outcome, count]) => [statusOf(outcome), count]),
        ),
        ...(success.missing_runs ? { missing: success.missing_runs } : {}),
      },
      completeness,
      success: { outcome: success.outcome, runs: { ...success.runs }, missing_runs: success.missing_runs },
    };
  });
}
