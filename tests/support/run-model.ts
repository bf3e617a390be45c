// A store of runs in memory, for tests of the table: what it holds is plain to see, and every change is told as the
// writer tells it. Reading waits, so that changes can come in the middle.

import { setImmediate as turn } from "node:timers/promises";
import type { Batch } from "#model/batch.ts";
import { createRows } from "#model/tables.ts";
import type { RunSource } from "#query/runs/table.ts";
import type { MetricCell, MetricCount, ParamCell, PointStat } from "#store/reader/cells.ts";
import type { EditFact } from "#store/reader/heads.ts";
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
  /** How many readings succeed before one fails; null when none fails. */
  failsAfter: number | null = null;

  /** The group, known from now on as one of the run. */
  change(groupKey: string, runId: string, nowNs: bigint, work: (group: ModelGroup) => void): Batch {
    const known = this.groups.get(groupKey);
    const group: ModelGroup =
      known === undefined || known.isDeleted
        ? { runId, isDeleted: false, startNs: nowNs, end: null, lastReceivedNs: nowNs, params: [], points: [] }
        : known;
    const isNew = group !== known;
    this.groups.set(groupKey, group);
    const runBefore = group.runId;
    work(group);
    group.lastReceivedNs = nowNs;
    if (isNew) return toBatch(groupKey, group.runId, true);
    // A group comes to another run, or is deleted, by its row in the table of groups alone.
    const isMoved = group.runId !== runBefore || group.isDeleted;
    return toBatch(groupKey, isMoved ? group.runId : null, !isMoved);
  }

  edit(runId: string, edit: EditFact): Batch {
    this.edits.set(runId, edit);
    const row = { workspace: "ws", run_id: runId, name: null, notes: null, tags: "", archived: 0, author: "" };
    return { position: 0, parts: [], state: [{ table: "run_edits", row: { ...row, version: 0n } }], bytes: 0 };
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

  runFacts(_workspace: string, groups: readonly string[] | null): Promise<RunFacts[]> {
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

/** What the writer tells: rows of a group, and its row in the table of groups when that is new. */
function toBatch(groupKey: string, newRun: string | null, hasRows: boolean): Batch {
  const rows = createRows("events");
  if (hasRows) rows.group_key.push(groupKey);
  const row = {
    group_key: groupKey,
    workspace: groupKey.slice(0, groupKey.indexOf("/")),
    protocol: "xtrack",
    run_id: newRun ?? "",
    session_id: "",
    root_kind: "",
    rank: 0,
    pipeline_id: null,
    deployment_id: null,
    model_id: null,
    forked: 0,
    imported: 0,
    deleted_ns: 0n,
    version: 0n,
  };
  const state = newRun === null ? [] : [{ table: "groups" as const, row }];
  return { position: 0, parts: [{ table: "events", rows, dropped: null }], state, bytes: 0 };
}
