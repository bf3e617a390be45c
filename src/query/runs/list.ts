// The table of runs: filtered, sorted, grouped and paged. Heads are derived for every run of the workspace;
// params and metrics are read only for the fields that the question names.

import type { MetricCell, MetricCount, ParamCell } from "#model/run-cells.ts";
import type { RunFacts } from "#model/run-facts.ts";
import type { FieldRef } from "./field.ts";
import { type Filter, fieldsOf } from "./filter.ts";
import { type HeadContext, toRunHead } from "./head.ts";
import { type FieldValue, matches } from "./match.ts";
import { type RunEntry, valuesOf } from "./values.ts";

/** What this question needs from the store. */
export interface RunSource {
  runFacts(workspace: string, signal?: AbortSignal): Promise<RunFacts[]>;
  paramCells(workspace: string, names: readonly string[], signal?: AbortSignal): Promise<ParamCell[]>;
  metricCells(workspace: string, keys: readonly string[], signal?: AbortSignal): Promise<MetricCell[]>;
  metricCounts(workspace: string, keys: readonly string[], groups: readonly string[] | null): Promise<MetricCount[]>;
}

export interface RunsQuestion {
  readonly workspace: string;
  readonly filter: Filter | null;
  readonly sort: readonly { readonly field: FieldRef; readonly descending: boolean }[];
  readonly columns: readonly FieldRef[];
  readonly group: FieldRef | null;
  readonly archived: "hide" | "show" | "only";
  readonly limit: number;
  /** The sort values and id of the last run of the page before. */
  readonly after: readonly (string | number | null)[] | null;
}

export interface RunsPage {
  readonly entries: readonly RunEntry[];
  readonly total: number;
  readonly next: readonly (string | number | null)[] | null;
  /** All runs that match, in order: for groups. */
  readonly matching: readonly RunEntry[];
}

export async function listRuns(
  source: RunSource,
  question: RunsQuestion,
  context: HeadContext,
  signal?: AbortSignal,
): Promise<RunsPage> {
  const entries = await readEntries(source, question, context, signal);
  const matching = entries
    .filter((entry) => isShown(entry, question.archived))
    .filter((entry) => question.filter === null || isMatch(entry, question.filter, context))
    .map((entry) => ({ entry, key: sortKey(entry, question) }))
    .sort((a, b) => compareKeys(a.key, b.key, question));
  const start = question.after === null ? 0 : firstAfter(matching, question);
  const page = matching.slice(start, start + question.limit);
  const hasMore = start + question.limit < matching.length;
  return {
    entries: page.map(({ entry }) => entry),
    total: matching.length,
    next: hasMore ? (page.at(-1)?.key ?? null) : null,
    matching: matching.map(({ entry }) => entry),
  };
}

/** Every run with the values of the fields that are asked for. */
export async function readEntries(
  source: RunSource,
  question: Pick<RunsQuestion, "workspace" | "filter" | "sort" | "columns" | "group">,
  context: HeadContext,
  signal?: AbortSignal,
): Promise<RunEntry[]> {
  const fields = [
    ...fieldsOf(question.filter),
    ...question.sort.map(({ field }) => field),
    ...question.columns,
    ...(question.group === null ? [] : [question.group]),
  ];
  const names = unique(fields.flatMap((field) => (field.kind === "param" ? [field.name] : [])));
  const keys = unique(fields.flatMap((field) => (field.kind === "metric" ? [field.key] : [])));
  const needsCounts = fields.some(
    (field) => field.kind === "metric" && (field.stat === "count" || field.stat === "nonfinite"),
  );
  const [facts, params, metrics] = await Promise.all([
    source.runFacts(question.workspace, signal),
    names.length === 0 ? [] : source.paramCells(question.workspace, names, signal),
    keys.length === 0 ? [] : source.metricCells(question.workspace, keys, signal),
  ]);
  const flagged = metrics.filter((cell) => cell.hasNonfinite).map((cell) => cell.groupKey);
  const countsOf = needsCounts ? null : unique(flagged);
  const counts =
    keys.length === 0 || countsOf?.length === 0 ? [] : await source.metricCounts(question.workspace, keys, countsOf);
  return toEntries(facts, params, metrics, counts, context);
}

export function toEntries(
  facts: readonly RunFacts[],
  params: readonly ParamCell[],
  metrics: readonly MetricCell[],
  counts: readonly MetricCount[],
  context: HeadContext,
): RunEntry[] {
  const paramsOf = Map.groupBy(params, (cell) => cell.groupKey);
  const metricsOf = Map.groupBy(metrics, (cell) => cell.groupKey);
  const countsOf = Map.groupBy(counts, (cell) => cell.groupKey);
  return facts.map((run) => {
    const head = toRunHead(run, context);
    const all = <T>(cells: Map<string, T[]>): T[] => run.groups.flatMap((group) => cells.get(group.groupKey) ?? []);
    const latest = all(paramsOf).toSorted((a, b) => (a.tsNs < b.tsNs ? -1 : a.tsNs > b.tsNs ? 1 : 0));
    return {
      facts: run,
      head,
      name: run.edit?.name ?? (head.name || run.runId),
      tags: run.edit === null || run.edit.tags === "" ? head.tags : (JSON.parse(run.edit.tags) as string[]),
      params: new Map(latest.map((cell) => [cell.name, cell])),
      metrics: all(metricsOf),
      counts: all(countsOf),
    };
  });
}

function isShown(entry: RunEntry, archived: RunsQuestion["archived"]): boolean {
  const isArchived = entry.facts.edit?.archived ?? false;
  return archived === "show" || isArchived === (archived === "only");
}

function isMatch(entry: RunEntry, filter: Filter, context: HeadContext): boolean {
  const words = [entry.name, entry.facts.runId, entry.head.experiment, ...entry.tags];
  return matches(filter, { lookup: (field) => valuesOf(entry, field), words, nowNs: context.nowNs });
}

/** The values that decide a run's place, the id last: no two runs are equal. */
function sortKey(entry: RunEntry, question: RunsQuestion): (string | number | null)[] {
  const group = question.group === null ? [] : [sortValue(valuesOf(entry, question.group)[0])];
  const sorted = question.sort.map(({ field }) => sortValue(valuesOf(entry, field)[0]));
  // Without a wish the newest run comes first.
  const start = entry.head.startNs === null ? null : -Number(entry.head.startNs);
  return [...group, ...sorted, ...(question.sort.length === 0 ? [start] : []), entry.facts.runId];
}

function sortValue(value: FieldValue | undefined): string | number | null {
  if (value === undefined) return null;
  if (value.num === null) return value.text;
  // NaN has no place among numbers and no form in a cursor: it stands with the texts, after them.
  return Number.isNaN(value.num) ? "NaN" : value.num;
}

function compareKeys(
  a: readonly (string | number | null)[],
  b: readonly (string | number | null)[],
  question: RunsQuestion,
): number {
  const lead = question.group === null ? 0 : 1;
  for (let at = 0; at < a.length; at++) {
    const order = compareValues(a[at] ?? null, b[at] ?? null);
    if (order === 0) continue;
    const isMissing = a[at] === null || b[at] === null;
    const descending = question.sort[at - lead]?.descending ?? false;
    // A run without the value comes last, whichever way the sort goes.
    return isMissing || !descending ? order : -order;
  }
  return 0;
}

function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : 1;
}

function firstAfter(
  sorted: readonly { readonly key: readonly (string | number | null)[] }[],
  question: RunsQuestion,
): number {
  const after = question.after as readonly (string | number | null)[];
  const at = sorted.findIndex(({ key }) => compareKeys(key, after, question) > 0);
  return at < 0 ? sorted.length : at;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
