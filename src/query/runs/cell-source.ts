// The values of a param or a metric as they are read, by group, and the value that a run has from them.

import type { MetricCell, MetricCount, ParamCell, PointStat } from "#store/reader/cells.ts";
import type { CellField } from "./column.ts";
import type { MetricField } from "./field.ts";
import type { FieldValue } from "./match.ts";
import type { RunRow } from "./row.ts";
import { countValues, paramValues, pointValues } from "./values.ts";

/** What the store is asked; `groups` null stands for all of the workspace. */
export interface CellSource {
  paramCells(workspace: string, name: string, groups: readonly string[] | null): Promise<ParamCell[]>;
  metricCells(workspace: string, key: string, stat: PointStat, groups: readonly string[] | null): Promise<MetricCell[]>;
  metricCounts(workspace: string, keys: readonly string[], groups: readonly string[] | null): Promise<MetricCount[]>;
}

export interface RunCell {
  readonly values: readonly FieldValue[];
  /** Whether a point of the metric is NaN or ±Infinity, whatever its phase. */
  readonly isFlagged: boolean;
}

/** Reads a field of some groups, and says what it is for any run of them. */
export async function readField(
  source: CellSource,
  workspace: string,
  field: CellField,
  groups: readonly string[] | null,
): Promise<(row: RunRow) => RunCell> {
  if (field.kind === "param") {
    const cellsOf = gather(await source.paramCells(workspace, field.name, groups));
    return (row) => ({ values: paramValues(cellsOf(row)), isFlagged: false });
  }
  const { key, whole, stat } = field;
  if (whole === null) return readMetric(source, workspace, field, groups);
  const [asWhole, asPhase] = await Promise.all([
    readMetric(source, workspace, { key: whole, phase: null, stat }, groups),
    readMetric(source, workspace, { key, phase: field.phase, stat }, groups),
  ]);
  return (row) => {
    const cell = asWhole(row);
    return cell.values.length > 0 ? cell : asPhase(row);
  };
}

async function readMetric(
  source: CellSource,
  workspace: string,
  field: Pick<MetricField, "key" | "phase" | "stat">,
  groups: readonly string[] | null,
): Promise<(row: RunRow) => RunCell> {
  const { key, stat } = field;
  if (stat === "count" || stat === "nonfinite") {
    const cellsOf = gather(await source.metricCounts(workspace, [key], groups));
    return (row) => {
      const cells = cellsOf(row);
      return { values: countValues(field, cells), isFlagged: cells.some((cell) => cell.nonfinite > 0) };
    };
  }
  const cellsOf = gather(await source.metricCells(workspace, key, stat, groups));
  return (row) => {
    const cells = cellsOf(row);
    return { values: pointValues(field, cells), isFlagged: cells.some((cell) => cell.hasNonfinite) };
  };
}

/** The cells of a run, in the order of its groups. */
function gather<C extends { readonly groupKey: string }>(cells: readonly C[]): (row: RunRow) => readonly C[] {
  const first = new Map<string, C>();
  // Nearly every group has one cell; only those with several get a list.
  const more = new Map<string, C[]>();
  for (const cell of cells) {
    if (!first.has(cell.groupKey)) first.set(cell.groupKey, cell);
    else more.set(cell.groupKey, [...(more.get(cell.groupKey) ?? []), cell]);
  }
  return (row) => {
    const found: C[] = [];
    for (const { groupKey } of row.groups) {
      const cell = first.get(groupKey);
      if (cell === undefined) continue;
      found.push(cell);
      for (const one of more.get(groupKey) ?? []) found.push(one);
    }
    return found;
  };
}
