// A launch as a grid over two of its parameters.

import type { LaunchAnswer, LaunchCell } from "#api/contract/launch.ts";
import { extentOf } from "../../chart/scale.ts";
import { toNumber } from "../../text/format-number.ts";

export interface Grid {
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** Cells at (row, column); several when other parameters vary too. */
  cellsAt(row: string, column: string): readonly LaunchCell[];
  /** Planned cells whose place is not known. */
  readonly unplaced: readonly LaunchCell[];
}

/** Values in order: numbers by size, words by letter. */
export function orderValues(values: Iterable<string>): string[] {
  return [...new Set(values)].sort((a, b) => {
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  });
}

export function toGrid(cells: readonly LaunchCell[], x: string | null, y: string | null): Grid {
  const read = (cell: LaunchCell, axis: string | null) => (axis === null ? "" : (cell.context[axis] ?? null));
  const placed = new Map<string, LaunchCell[]>();
  const unplaced: LaunchCell[] = [];
  const columns: string[] = [];
  const rows: string[] = [];
  for (const cell of cells) {
    const column = read(cell, x);
    const row = read(cell, y);
    if (column === null || row === null) {
      unplaced.push(cell);
      continue;
    }
    columns.push(column);
    rows.push(row);
    const key = `${row}\n${column}`;
    placed.set(key, [...(placed.get(key) ?? []), cell]);
  }
  return {
    columns: orderValues(columns),
    rows: orderValues(rows),
    unplaced,
    cellsAt: (row, column) => placed.get(`${row}\n${column}`) ?? [],
  };
}

/** The two most varied parameters, the more varied one across. */
export function chooseAxes(launch: LaunchAnswer): { x: string | null; y: string | null } {
  const varied = launch.axes.filter((axis) => axis.values.length > 1);
  return { x: varied[0]?.name ?? launch.axes[0]?.name ?? null, y: varied[1]?.name ?? null };
}

/** A metric's value in a cell, and where it lies between the least and the greatest of all cells, 0…1. */
export function heatOf(
  cells: readonly LaunchCell[],
  field: string,
): (cell: LaunchCell) => { value: number; share: number } | null {
  const read = (cell: LaunchCell) => toNumber(cell.cells[field]?.num);
  const range = extentOf(cells.map(read));
  return (cell) => {
    const value = read(cell);
    if (value === null) return null;
    if (range === null || !Number.isFinite(value)) return { value, share: Number.NaN };
    return { value, share: range.max === range.min ? 0.5 : (value - range.min) / (range.max - range.min) };
  };
}

/** The cell with the least value where less is better, else with the greatest. */
export function bestCell(cells: readonly LaunchCell[], field: string): LaunchCell | null {
  const lower = /loss|error|perplexity|duration|time/.test(field);
  let best: { cell: LaunchCell; value: number } | null = null;
  for (const cell of cells) {
    const value = toNumber(cell.cells[field]?.num);
    if (value === null || !Number.isFinite(value)) continue;
    if (best === null || (lower ? value < best.value : value > best.value)) best = { cell, value };
  }
  return best?.cell ?? null;
}
