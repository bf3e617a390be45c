// A store of runs in memory, for tests of the table: what it holds is plain to see, and it knows what has changed. Reading
// waits, so that changes can come in the middle.

import { setImmediate as turn } from "node:timers/promises";
import type { RunSource, RunWatch } from "#query/runs/run-table.ts";
import type { MetricCell, MetricCount, ParamCell, PointStat } from "#store/reader/cells.ts";
import type { EditFact } from "#store/reader/heads.ts";
import type { NewestRun } from "#store/reader/newest-runs.ts";
import type { RunFacts } from "#store/reader/run-facts.ts";

export interface ModelPoint {
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly value: number | null;
  readonly text: string;
  readonly step: bigint | null;
  readonly tsNs: bigint;
}

interface ModelGroup {
  runId: string;
  isDeleted: boolean;
  startNs: bigint;
  end: string | null;
  lastReceivedNs: bigint;
  readonly params: ParamCell[];
  readonly points: ModelPoint[];
}

export class ModelStore implements RunSource {
  readonly groups = new Map<string, ModelGroup>();
  readonly edits = new Map<string, EditFact>();
  reads = 0;
  /** Whether it can tell what has changed. */
  isWatched = true;
  private readonly log: { readonly group?: string; readonly run?: string }[] = [];
  /** How many readings succeed before one fails; null when none fails. */
  failsAfter: number | null = null;

  /** The group, known from now on as one of the run. */
  change(groupKey: string, runId: string, nowNs: bigint, work: (group: ModelGroup) => void): void {
    const known = this.groups.get(groupKey);
    const group: ModelGroup =
      known === undefined || known.isDeleted
        ? { runId, isDeleted: false, startNs: nowNs, end: null, lastReceivedNs: nowNs, params: [], points: [] }
        : known;
    this.groups.set(groupKey, group);
    work(group);
    group.lastReceivedNs = nowNs;
    this.log.push({ group: groupKey });
  }

  edit(runId: string, edit: EditFact): void {
    this.edits.set(runId, edit);
    this.log.push({ run: runId });
  }

  newestRuns(_workspace: string, archived: "hide" | "show" | "only", limit: number): Promise<NewestRun[]> {
    return this.read(() => {
      const startOf = (run: RunFacts) => Math.min(...run.groups.map(({ firstNs }) => Number(firstNs)));
      const shown = this.factsNow(null).filter(
        ({ edit }) => archived === "show" || (edit?.archived ?? false) === (archived === "only"),
      );
      return shown
        .toSorted((a, b) => startOf(b) - startOf(a) || (a.runId < b.runId ? -1 : 1))
        .slice(0, limit)
        .map(({ runId, groups }) => ({ runId, groups: groups.map(({ groupKey }) => groupKey), total: shown.length }));
    });
  }

  watch(workspace: string): RunWatch {
    let from = this.log.length;
    return {
      takeChanges: async () => {
        await turn();
        const fresh = this.log.slice(from);
        from = this.log.length;
        if (!this.isWatched) return null;
        return {
          groups: new Set(fresh.flatMap(({ group }) => (group?.startsWith(`${workspace}/`) ? [group] : []))),
          runs: new Set(fresh.flatMap(({ run }) => run ?? [])),
        };
      },
    };
  }

  factsNow(groups: readonly string[] | null): RunFacts[] {
    const asked = [...this.groups].filter(([key, { isDeleted }]) => !isDeleted && (groups?.includes(key) ?? true));
    const runs = Map.groupBy(
      asked.sort(([a], [b]) => (a < b ? -1 : 1)),
      ([, group]) => group.runId,
    );
    return [...runs].map(([runId, mine]) => ({
      runId,
      groups: mine.map(([groupKey, group]) => toGroupFacts(groupKey, group)),
      starts: [],
      ends: mine.flatMap(([groupKey, { end, lastReceivedNs }]) =>
        end === null
          ? []
          : [{ groupKey, worker: "", tsNs: lastReceivedNs, status: end, errorType: "", errorMessage: "" }],
      ),
      statuses: [],
      pipelines: [],
      wrappers: [],
      edit: this.edits.get(runId) ?? null,
      missing: 0,
    }));
  }

  /** What was asked for last; null for all. */
  groupsRead: readonly string[] | null = null;

  runFacts(_workspace: string, groups: readonly string[] | null): Promise<RunFacts[]> {
    this.groupsRead = groups;
    return this.read(() => this.factsNow(groups));
  }

  paramCells(_workspace: string, name: string, groups: readonly string[] | null): Promise<ParamCell[]> {
    return this.read(() => this.each(groups, (_, { params }) => params.filter((cell) => cell.name === name).slice(-1)));
  }

  metricCells(
    _workspace: string,
    key: string,
    stat: PointStat,
    groups: readonly string[] | null,
  ): Promise<MetricCell[]> {
    return this.read(() => this.each(groups, (groupKey, group) => cellsOf(groupKey, group, key, stat)));
  }

  metricCounts(_workspace: string, keys: readonly string[], groups: readonly string[] | null): Promise<MetricCount[]> {
    return this.read(() =>
      this.each(groups, (groupKey, { points }) => {
        const series = Map.groupBy(
          points.filter((point) => keys.includes(point.key)),
          ({ key, phase }) => `${key}\n${phase}`,
        );
        return [...series.values()].map((mine) => ({
          groupKey,
          key: (mine[0] as ModelPoint).key,
          phase: (mine[0] as ModelPoint).phase,
          count: mine.length,
          nonfinite: mine.filter(isNonfinite).length,
        }));
      }),
    );
  }

  private each<T>(groups: readonly string[] | null, work: (groupKey: string, group: ModelGroup) => T[]): T[] {
    return [...this.groups].flatMap(([key, group]) =>
      group.isDeleted || !(groups?.includes(key) ?? true) ? [] : work(key, group),
    );
  }

  private async read<T>(work: () => T): Promise<T> {
    this.reads++;
    const fails = this.failsAfter === 0;
    if (this.failsAfter !== null) this.failsAfter = fails ? null : this.failsAfter - 1;
    await turn();
    if (fails) throw new Error("The store is away.");
    const answer = work();
    await turn();
    return answer;
  }
}

export function isNonfinite({ value }: { readonly value: number | null }): boolean {
  return value !== null && !Number.isFinite(value);
}

/** One point of each series of a key, as the store's summaries have it. */
export function cellsOf(
  groupKey: string,
  { points }: Pick<ModelGroup, "points">,
  key: string,
  stat: PointStat,
): MetricCell[] {
  const series = Map.groupBy(
    points.filter((point) => point.key === key),
    ({ phase, worker }) => `${phase}\n${worker}`,
  );
  return [...series.values()].map((mine) => {
    const sorted = mine.toSorted((a, b) => Number((a.step ?? -1n) - (b.step ?? -1n)) || Number(a.tsNs - b.tsNs));
    const finite = mine.flatMap(({ value }) => (value !== null && Number.isFinite(value) ? [value] : []));
    const isPoint = stat === "first" || stat === "last";
    const point = (stat === "first" ? sorted[0] : sorted.at(-1)) as ModelPoint;
    const extreme = finite.length === 0 ? null : stat === "min" ? Math.min(...finite) : Math.max(...finite);
    return {
      groupKey,
      phase: point.phase,
      worker: point.worker,
      value: isPoint ? point.value : extreme,
      text: isPoint ? point.text : "",
      step: isPoint ? point.step : null,
      tsNs: isPoint ? point.tsNs : 0n,
      hasNonfinite: mine.some(isNonfinite),
    };
  });
}

function toGroupFacts(groupKey: string, group: ModelGroup): RunFacts["groups"][number] {
  return {
    groupKey,
    protocol: "xtrack",
    runId: group.runId,
    sessionId: "",
    rootKind: "",
    rank: 0,
    forked: false,
    imported: false,
    firstNs: group.startNs,
    lastNs: group.lastReceivedNs,
    lastReceivedNs: group.lastReceivedNs,
    faults: 0,
    duplicates: 0,
    missing: 0,
    nonfinite: group.points.filter(isNonfinite).length,
    pipelineId: null,
    deploymentId: null,
    modelId: null,
  };
}
