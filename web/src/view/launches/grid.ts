// A launch as a grid over two of its parameters.

import type { LaunchAnswer, LaunchCell } from "#api/contract/launch.ts";
import { extentOf, shareOfRange } from "../../chart/scale.ts";
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
  const read = (cell: LaunchCell, axis: string | null) => (axis === null ? "" : cell.context[axis]);
  const isPlaced = (cell: LaunchCell) => read(cell, x) !== undefined && read(cell, y) !== undefined;
  const placed = cells.filter(isPlaced);
  const byPlace = Map.groupBy(placed, (cell) => `${read(cell, y)}\n${read(cell, x)}`);
  return {
    columns: orderValues(placed.map((cell) => read(cell, x) ?? "")),
    rows: orderValues(placed.map((cell) => read(cell, y) ?? "")),
    unplaced: cells.filter((cell) => !isPlaced(cell)),
    cellsAt: (row, column) => byPlace.get(`${row}\n${column}`) ?? [],
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
    return { value, share: range.max === range.min ? 0.5 : shareOfRange(range, value) };
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
