// What the routes about pipelines and launches read.

import type {
  ClockFacts,
  CompletenessFacts,
  LaunchedRun,
  LaunchHead,
  LifecycleRow,
  NodeRow,
} from "#model/pipeline-facts.ts";

export type PipelineScope =
  | { readonly workspace: string }
  | { readonly groupKeys: readonly string[] }
  | { readonly launchKey: string };

export interface LaunchPage {
  readonly workspace: string;
  readonly limit: number;
  readonly after: { readonly startNs: bigint; readonly launchKey: string } | null;
}

export interface PipelineReads {
  completeness(scope: PipelineScope, signal?: AbortSignal): Promise<CompletenessFacts[]>;
  lifecycle(groups: readonly string[]): Promise<LifecycleRow[]>;
  nodes(groups: readonly string[]): Promise<NodeRow[]>;
  /** Stored lines by event id. */
  payloads(groups: readonly string[], eventIds: readonly string[]): Promise<Map<string, string>>;
  /** By group key. */
  clocks(groups: readonly string[]): Promise<Map<string, Omit<ClockFacts, "imported">>>;
  launches(page: LaunchPage, signal?: AbortSignal): Promise<LaunchHead[]>;
  /** Stored start lines by launch key. */
  launchStarts(launchKeys: readonly string[]): Promise<Map<string, string>>;
  /** The members in order: by index, then by start. */
  launch(
    launchKey: string,
    signal?: AbortSignal,
  ): Promise<{ readonly head: LaunchHead; readonly members: readonly LaunchedRun[] } | null>;
  /** By launch id, ascending. */
  attempts(workspace: string, launchIds: readonly string[]): Promise<Map<string, number[]>>;
}
