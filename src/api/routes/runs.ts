// GET /runs and GET /fields: the table of runs, its groups, its cells and what it can be asked by.

import { limitDefault, type Route } from "#api/context.ts";
import type { Cell, RunSummary, RunsAnswer, Spark } from "#api/contract/run.ts";
import { toFloat } from "#api/contract/scalar.ts";
import { decodeCursor, encodeCursor } from "#api/cursor.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import type { RowCells, TableCell } from "#query/runs/cells.ts";
import { type FieldRef, parseField } from "#query/runs/field.ts";
import { listFields } from "#query/runs/fields.ts";
import { type Filter, parseFilter } from "#query/runs/filter.ts";
import { listRuns, type RunsQuestion } from "#query/runs/list.ts";
import type { RunRow } from "#query/runs/row.ts";
import { durationOf } from "#query/runs/values.ts";
import type { Buckets } from "#query/series/buckets.ts";
import { readSparks } from "#query/series/sparks.ts";

export const listRunsRoute: Route<"runs"> = async (context, { query, caller, signal, asOf }) => {
  const question: RunsQuestion = {
    workspace: caller.workspace,
    filter: readFilter(query.filter),
    sort: (query.sort ?? []).map(readSort),
    columns: (query.columns ?? []).map((text) => readField(text, "columns")),
    group: query.group === undefined ? null : readField(query.group, "group"),
    archived: query.archived ?? "hide",
    limit: query.limit ?? limitDefault,
    after: decodeCursor(query.cursor),
  };
  const page = await listRuns(context.sources, question, context.head());
  const rows = page.rows.map(({ row }) => row);
  const sparks = query.spark === undefined ? null : await readSparks(context.sources, rows, query.spark, signal);
  return toExactJson<RunsAnswer>({
    runs: page.rows.map((one, at) => ({
      ...toSummary(one),
      ...(sparks === null ? {} : { spark: toSpark(query.spark as string, sparks.get(one.row.runId)) }),
      ...(page.grouped === null ? {} : { group: page.grouped.texts[at] as string }),
    })),
    next: encodeCursor(page.next),
    total: page.total,
    ...(page.grouped === null ? {} : { groups: [...page.grouped.groups] }),
    as_of: asOf,
  });
};

/** What runs can be filtered, sorted and shown by. */
export const fieldsRoute: Route<"fields"> = async (context, { query, caller, asOf }) => {
  return { fields: await listFields(context.sources, caller.workspace, query.q ?? ""), as_of: asOf };
};

function toSpark(key: string, buckets: Buckets | undefined): Spark | null {
  if (buckets === undefined) return null;
  const { min, max, last } = buckets;
  return { key, min: [...min], max: [...max], last: last.map((value) => (value === null ? null : toFloat(value))) };
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

export function toSummary({ row, cells }: RowCells): RunSummary {
  const { head, launch } = row;
  return {
    id: row.runId,
    name: row.name,
    status: head.status,
    status_raw: head.statusRaw,
    protocols: [...row.protocols] as RunSummary["protocols"],
    experiment: head.experiment,
    tags: [...row.tags],
    start_ns: head.startNs?.toString() ?? null,
    end_ns: head.endNs?.toString() ?? null,
    duration_ns: durationOf(head)?.toString() ?? null,
    updated_ns: head.lastReceivedNs.toString(),
    progress: head.progress,
    workers: head.workers.length,
    launch: toLaunch(launch),
    parent: head.parent === "" ? null : head.parent,
    archived: row.edit?.archived ?? false,
    error: head.errorMessage.split("\n", 1)[0] as string,
    integrity: {
      faults: row.faults,
      missing: row.missing,
      duplicates: row.duplicates,
      nonfinite: row.nonfinite,
    },
    cells: toCells(cells),
  };
}

function toLaunch(launch: RunRow["launch"]): RunSummary["launch"] {
  if (launch === null) return null;
  const index = launch.index === null ? null : Number(launch.index);
  return { id: launch.id, attempt: Number(launch.attempt ?? 0), index };
}

/** By field; fields that the run does not have are left out. */
export function toCells(cells: readonly TableCell[]): Record<string, Cell> {
  return Object.fromEntries(
    cells.flatMap((cell) => (cell.values.length === 0 ? [] : [[cell.field.text, toCell(cell)]])),
  );
}

function toCell({ field, values, nonfinite }: TableCell): Cell {
  const text = values.map((value) => value.text).join(", ");
  const num = values.length === 1 ? (values[0]?.num ?? null) : null;
  const cell: Cell = { text, num: num === null ? null : toFloat(num) };
  return field.kind === "metric" ? { ...cell, nonfinite } : cell;
}
