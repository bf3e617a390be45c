// The parts of a comparison of several runs, each read once for all of them.

import { findGroups, type RunGroup } from "#query/runs/find-run.ts";
import type { HeadContext } from "#query/runs/head.ts";
import type { RunRow } from "#query/runs/row.ts";
import type { RunsView } from "#query/runs/run-table.ts";
import type { Sources } from "#query/sources.ts";
import { readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import * as reader from "#store/reader/compare.ts";

export const { readComparedMetrics, readComparedSpans, readComparedTensors } = reader;
export type { ComparedMetric, ComparedSpan, ComparedTensor } from "#store/reader/compare.ts";

export interface ComparedRun {
  readonly row: RunRow;
  readonly groups: readonly RunGroup[];
}

/**
 * The runs in the order in which they were named, each once, and the ids that mean none. With `skipsTable` only these runs
 * are read, unless the table of all runs is there already: the first picture need not wait for that table.
 */
export async function findCompared(
  { runs: table, store }: Pick<Sources, "runs" | "store">,
  { workspace, ids, skipsTable }: { workspace: string; ids: readonly string[]; skipsTable: boolean },
  context: HeadContext,
): Promise<{ runs: readonly ComparedRun[]; missing: string[] }> {
  const groupsOf = await findGroups({ store }, workspace, [...new Set(ids)]);
  const toCompared = (view: RunsView): ComparedRun[] => {
    const found = new Map<string, ComparedRun>();
    for (const groups of groupsOf.values()) {
      const place = groups[0] === undefined ? undefined : view.placeOf(groups[0].run);
      if (place === undefined) continue;
      const row = view.rowAt(place);
      found.set(row.runId, { row, groups });
    }
    return [...found.values()];
  };
  const groupKeys = [...groupsOf.values()].flat().map(({ groupKey }) => groupKey);
  const runs = skipsTable
    ? await table.askSome(workspace, groupKeys, [], context, toCompared)
    : await table.ask(workspace, [], context, toCompared);
  const known = new Set(runs.map(({ row }) => row.runId));
  return { runs, missing: [...groupsOf].flatMap(([id, groups]) => (known.has(groups[0]?.run ?? "") ? [] : [id])) };
}

/** The params of each run, and the texts that it was started with. */
export async function readComparedTexts({ store }: Sources, workspace: string, runs: readonly ComparedRun[]) {
  const groups = runs.flatMap((run) => run.groups);
  const scope = { workspace, groupKeys: groups.map(({ groupKey }) => groupKey) };
  const [cells, texts] = await Promise.all([readParamCells(store, scope, null), reader.readStartTexts(store, groups)]);
  const cellsOf = Map.groupBy(cells, (cell) => cell.groupKey);
  return runs.map(({ row, groups }) => {
    const textOf = (type: reader.StartText["type"]): string =>
      texts.find((text) => text.run === row.runId && text.type === type)?.payload ?? "";
    return {
      groups,
      params: groups.flatMap(({ groupKey }) => cellsOf.get(groupKey) ?? []),
      start: textOf("run_start"),
      session: textOf("cirron.session"),
    };
  });
}

/** How many points are not finite, by `nameOf`; counted only where a summary says that there are any, which is rare. */
export async function countNonfinitePoints(
  { store }: Sources,
  workspace: string,
  runs: readonly ComparedRun[],
  metrics: readonly reader.ComparedMetric[],
): Promise<Map<string, number>> {
  const flagged = metrics.filter((metric) => metric.has_nonfinite);
  const flaggedRuns = new Set(flagged.map(({ run }) => run));
  const groups = runs.filter(({ row }) => flaggedRuns.has(row.runId)).flatMap((run) => run.groups);
  const runOf = new Map(groups.map(({ groupKey, run }) => [groupKey, run]));
  const keys = [...new Set(flagged.map(({ key }) => key))];
  const counted = new Map<string, number>();
  if (keys.length === 0) return counted;
  for (const { groupKey, key, phase, nonfinite } of await readMetricCounts(
    store,
    { workspace, groupKeys: [...runOf.keys()] },
    keys,
  )) {
    const name = nameOf(runOf.get(groupKey) ?? "", key, phase);
    counted.set(name, (counted.get(name) ?? 0) + nonfinite);
  }
  return counted;
}

export function nameOf(run: string, key: string, phase: string): string {
  return JSON.stringify([run, key, phase]);
}
