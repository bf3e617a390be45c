// GET /runs: the table of runs, its groups and its cells.

import { type ApiContext, decodeCursor, encodeCursor } from "#api/context.ts";
import type { Cell, RunGroup, RunSummary, RunsAnswer } from "#api/contract/run.ts";
import type { Handler } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { type FieldRef, parseField } from "#query/runs/field.ts";
import { type Filter, parseFilter } from "#query/runs/filter.ts";
import { listRuns, type RunSource, type RunsQuestion } from "#query/runs/list.ts";
import { durationOf, protocolsOf, type RunEntry, valuesOf } from "#query/runs/values.ts";
import { readSparks } from "./sparks.ts";

const groupsMax = 1000;

export function listRunsRoute(context: ApiContext): Handler<"runs"> {
  return async ({ query, caller, signal }): Promise<RunsAnswer> => {
    const question: RunsQuestion = {
      workspace: caller.workspace,
      filter: readFilter(query.filter),
      sort: (query.sort ?? []).map(readSort),
      columns: (query.columns ?? []).map((text) => readField(text, "columns")),
      group: query.group === undefined ? null : readField(query.group, "group"),
      archived: query.archived ?? "hide",
      limit: query.limit ?? 100,
      after: decodeCursor(query.cursor),
    };
    const asOf = context.asOf();
    const page = await listRuns(toSource(context), question, context.head(), signal);
    const sparks = query.spark === undefined ? null : await readSparks(context, page.entries, query.spark, signal);
    return {
      runs: page.entries.map((entry) => ({
        ...toSummary(entry, question.columns),
        ...(sparks === null ? {} : { spark: sparks.get(entry.facts.runId) ?? null }),
        ...(question.group === null ? {} : { group: groupOf(entry, question.group) }),
      })),
      next: encodeCursor(page.next),
      total: page.total,
      ...(question.group === null ? {} : { groups: toGroups(page.matching, question) }),
      as_of: asOf,
    };
  };
}

export function toSource({ reads }: ApiContext): RunSource {
  return {
    runFacts: (workspace, signal) => reads.runFacts(workspace, null, signal),
    paramCells: (workspace, names) => reads.paramCells(workspace, names, null),
    metricCells: (workspace, keys) => reads.metricCells(workspace, keys, null),
    metricCounts: (workspace, keys, groups) => reads.metricCounts(workspace, keys, groups),
  };
}

export function readFilter(text: string | undefined): Filter | null {
  const parsed = parseFilter(text ?? "");
  if (parsed.ok) return parsed.filter;
  const { message, offset, length } = parsed.mistake;
  throw new Refusal("filter_syntax", message, {
    hint: "A filter looks like: status:failed AND params.lr<0.01 AND metrics.val_loss.last<2",
    at: { part: "filter", offset, length },
  });
}

function readSort(text: string): RunsQuestion["sort"][number] {
  const descending = text.startsWith("-");
  return { field: readField(descending ? text.slice(1) : text, "sort"), descending };
}

export function readField(text: string, name: string): FieldRef {
  const field = parseField(text);
  if (!("mistake" in field)) return field;
  throw new Refusal("field_unknown", field.mistake, { at: { part: "query", name } });
}

export function toSummary(entry: RunEntry, columns: readonly FieldRef[]): RunSummary {
  const { facts, head } = entry;
  const duration = durationOf(head);
  const pipeline = facts.pipelines.find((one) => one.launchId !== "");
  return {
    id: facts.runId,
    name: entry.name,
    status: head.status,
    status_raw: head.statusRaw,
    protocols: protocolsOf(facts) as RunSummary["protocols"],
    experiment: head.experiment,
    tags: [...entry.tags],
    start_ns: head.startNs?.toString() ?? null,
    end_ns: head.endNs?.toString() ?? null,
    duration_ns: duration?.toString() ?? null,
    updated_ns: head.lastReceivedNs.toString(),
    progress: head.progress,
    workers: head.workers.length,
    launch:
      pipeline === undefined
        ? null
        : {
            id: pipeline.launchId,
            attempt: Number(pipeline.attempt ?? 0),
            index: pipeline.index === null ? null : Number(pipeline.index),
          },
    parent: head.parent === "" ? null : head.parent,
    archived: facts.edit?.archived ?? false,
    error: head.errorMessage.split("\n", 1)[0] as string,
    integrity: {
      faults: facts.groups.reduce((sum, group) => sum + group.faults, 0),
      missing: facts.missing,
      duplicates: facts.groups.reduce((sum, group) => sum + group.duplicates, 0),
      nonfinite: facts.groups.reduce((sum, group) => sum + group.nonfinite, 0),
    },
    cells: toCells(entry, columns),
  };
}

/** By field; a field this run does not have is left out. */
export function toCells(entry: RunEntry, columns: readonly FieldRef[]): Record<string, Cell> {
  return Object.fromEntries(columns.flatMap((field) => toCell(entry, field)));
}

function toCell(entry: RunEntry, field: FieldRef): [string, Cell][] {
  const values = valuesOf(entry, field);
  if (values.length === 0) return [];
  const text = values.map((value) => value.text).join(", ");
  const num = values.length === 1 ? (values[0]?.num ?? null) : null;
  const cell: Cell = { text, num: num === null || Number.isFinite(num) ? num : (String(num) as Cell["num"]) };
  if (field.kind !== "metric") return [[field.text, cell]];
  const counts = entry.counts.filter((count) => count.key === field.key);
  return [[field.text, { ...cell, nonfinite: counts.reduce((sum, count) => sum + count.nonfinite, 0) }]];
}

function groupOf(entry: RunEntry, field: FieldRef): string {
  return valuesOf(entry, field)[0]?.text ?? "";
}

function toGroups(entries: readonly RunEntry[], question: RunsQuestion): RunGroup[] {
  const field = question.group as FieldRef;
  const groups = Map.groupBy(entries, (entry) => groupOf(entry, field));
  return [...groups].slice(0, groupsMax).map(([value, members]) => ({
    value,
    runs: members.length,
    statuses: countBy(members.map((entry) => entry.head.status)),
    aggregates: Object.fromEntries(question.columns.flatMap((column) => aggregate(members, column))),
    filter: value === "" ? `NOT ${field.text}~""` : `${field.text}=${JSON.stringify(value)}`,
  }));
}

function aggregate(entries: readonly RunEntry[], field: FieldRef): [string, RunGroup["aggregates"][string]][] {
  const numbers = entries
    .flatMap((entry) => valuesOf(entry, field))
    .flatMap((value) => (value.num !== null && Number.isFinite(value.num) ? [value.num] : []));
  if (numbers.length === 0) return [];
  const sum = numbers.reduce((total, number) => total + number, 0);
  const min = numbers.reduce((a, b) => Math.min(a, b));
  const max = numbers.reduce((a, b) => Math.max(a, b));
  return [[field.text, { count: numbers.length, min, max, mean: sum / numbers.length }]];
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
