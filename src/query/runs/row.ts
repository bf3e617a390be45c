// A row of the table of runs: a summary of the facts about one run, small enough to be kept for every run.

import type { EditFact } from "#store/reader/heads.ts";
import type { RunFacts } from "#store/reader/run-facts.ts";
import { type HeadContext, headAt, judgeRun, type RunHead, type Silence } from "./head.ts";

export interface RunRow {
  readonly runId: string;
  /** By key. */
  readonly groups: readonly { readonly groupKey: string; readonly protocol: string; readonly rank: number }[];
  readonly head: RunHead;
  /** What decides about the run while nothing says how it ended; null when the facts alone do. */
  readonly silence: Silence | null;
  readonly name: string;
  readonly tags: readonly string[];
  readonly protocols: readonly string[];
  readonly launch: { readonly id: string; readonly attempt: bigint | null; readonly index: bigint | null } | null;
  readonly edit: EditFact | null;
  readonly faults: number;
  /** XTrack events that never came, and those that arrived again. */
  readonly missing: number;
  readonly duplicates: number;
  /** Points that are NaN or ±Infinity. */
  readonly nonfinite: number;
}

export function toRunRow(facts: RunFacts, context: HeadContext): RunRow {
  const { head, silence } = judgeRun(facts, context);
  const { runId, edit, groups } = facts;
  const pipeline = facts.pipelines.find((one) => one.launchId !== "");
  const sum = (count: (group: RunFacts["groups"][number]) => number) =>
    groups.reduce((total, group) => total + count(group), 0);
  return {
    runId,
    groups: groups.map(({ groupKey, protocol, rank }) => ({ groupKey, protocol, rank })),
    head,
    silence,
    name: edit?.name ?? (head.name || runId),
    tags: edit === null || edit.tags === "" ? head.tags : (JSON.parse(edit.tags) as string[]),
    protocols: toProtocols(facts),
    launch: pipeline === undefined ? null : { id: pipeline.launchId, attempt: pipeline.attempt, index: pipeline.index },
    edit,
    faults: sum((group) => group.faults),
    missing: facts.missing,
    duplicates: sum((group) => group.duplicates),
    nonfinite: sum((group) => group.nonfinite),
  };
}

/** The row at another moment: the same one, unless silence or a connection has changed what is said of the run. */
export function rowAt(row: RunRow, context: HeadContext): RunRow {
  if (row.silence === null) return row;
  const head = headAt(row.head, row.silence, context);
  return head === row.head ? row : { ...row, head };
}

function toProtocols(facts: RunFacts): string[] {
  const known = facts.groups.map((group) => group.protocol).filter((protocol) => protocol !== "run");
  return [...new Set(known)].sort();
}
