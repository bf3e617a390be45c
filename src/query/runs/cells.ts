// The cells of a few runs: what each has for the columns that were asked for.

import type { MetricCount } from "#store/reader/cells.ts";
import type { CellSource } from "./cell-source.ts";
import type { FieldRef, MetricField } from "./field.ts";
import type { FieldValue } from "./match.ts";
import type { RunRow } from "./row.ts";
import type { RunsView } from "./run-table.ts";

/** No values when the run has no such field. */
export interface TableCell {
  readonly field: FieldRef;
  readonly values: readonly FieldValue[];
  /** Points of a metric that are NaN or ±Infinity, of all its phases; 0 for other fields. */
  readonly nonfinite: number;
}

export interface RowCells {
  readonly row: RunRow;
  readonly cells: readonly TableCell[];
}

/** Cells whose points that are not finite are still to be counted. */
export interface UncountedRow {
  readonly row: RunRow;
  readonly cells: readonly (Omit<TableCell, "nonfinite"> & { readonly isFlagged: boolean })[];
}

export function cellsAt(view: RunsView, place: number, fields: readonly FieldRef[]): UncountedRow {
  return {
    row: view.rowAt(place),
    cells: fields.map((field) => ({
      field,
      values: view.readerOf(field)(place),
      isFlagged: view.isFlagged(field, place),
    })),
  };
}

/** Counts only where a summary says that there is something to count, which is rare. */
export async function countNonfinite(
  source: CellSource,
  workspace: string,
  rows: readonly UncountedRow[],
): Promise<RowCells[]> {
  const keys = new Set<string>();
  const groups = new Set<string>();
  for (const { row, cells } of rows)
    for (const { field, isFlagged } of cells) {
      if (!isFlagged || field.kind !== "metric") continue;
      for (const key of keysOf(field)) keys.add(key);
      for (const { groupKey } of row.groups) groups.add(groupKey);
    }
  const counts = keys.size === 0 ? [] : await source.metricCounts(workspace, [...keys], [...groups]);
  const countsOf = Map.groupBy(counts, (count) => count.groupKey);
  return rows.map(({ row, cells }) => ({
    row,
    cells: cells.map(({ field, values, isFlagged }) => ({
      field,
      values,
      nonfinite: isFlagged && field.kind === "metric" ? sumOf(row, field, countsOf) : 0,
    })),
  }));
}

function keysOf({ key, whole }: MetricField): string[] {
  return whole === null ? [key] : [whole, key];
}

/** Of the first of the field's names that the run has a metric of. */
function sumOf(row: RunRow, field: MetricField, countsOf: ReadonlyMap<string, readonly MetricCount[]>): number {
  const counts = row.groups.flatMap(({ groupKey }) => countsOf.get(groupKey) ?? []);
  const key = keysOf(field).find((one) => counts.some((count) => count.key === one));
  return counts.reduce((sum, count) => (count.key === key ? sum + count.nonfinite : sum), 0);
}
