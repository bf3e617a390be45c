// The rows and columns of the runs table as plain data.

import type { RunGroup, RunSummary } from "#api/contract/run.ts";
import { digitsOfColumn, toNumber } from "../../text/format-number.ts";

export type GridRow =
  | { readonly kind: "run"; readonly run: RunSummary }
  | { readonly kind: "group"; readonly group: RunGroup; readonly open: boolean };

/** Runs under the heading of their group; a closed group shows its heading only. */
export function toGridRows(
  runs: readonly RunSummary[],
  groups: readonly RunGroup[] | undefined,
  closed: ReadonlySet<string>,
): GridRow[] {
  if (groups === undefined) return runs.map((run) => ({ kind: "run", run }));
  const byGroup = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const list = byGroup.get(run.group ?? "");
    if (list === undefined) byGroup.set(run.group ?? "", [run]);
    else list.push(run);
  }
  return groups.flatMap((group): GridRow[] => {
    const open = !closed.has(group.value);
    const inside = open ? (byGroup.get(group.value) ?? []) : [];
    return [{ kind: "group", group, open }, ...inside.map((run): GridRow => ({ kind: "run", run }))];
  });
}

/** Significant digits for each column, so that neighbours can be told apart. */
export function digitsOfColumns(runs: readonly RunSummary[], columns: readonly string[]): Map<string, number> {
  return new Map(
    columns.map((column) => {
      const numbers = runs.flatMap((run) => {
        const number = toNumber(run.cells[column]?.num);
        return number === null ? [] : [number];
      });
      return [column, digitsOfColumn(numbers)];
    }),
  );
}

export interface GridColumn {
  readonly field: string;
  readonly width: number;
  /** Distance from the left edge while it stays in place; null when it scrolls. */
  readonly sticky: number | null;
}

const widths: Record<string, number> = { select: 36, name: 240, status: 124, spark: 116, start: 92, duration: 88 };

/** Select, name and status stay; then pinned columns, the others, the sparkline and the times. */
export function layoutColumns(columns: readonly string[], pinned: readonly string[], spark: boolean): GridColumn[] {
  const chosen = columns.filter((column) => column !== "spark");
  const fixed = ["select", "name", "status", ...chosen.filter((column) => pinned.includes(column))];
  const loose = [
    ...chosen.filter((column) => !pinned.includes(column)),
    ...(spark ? ["spark"] : []),
    "start",
    "duration",
  ];
  let left = 0;
  const placed = fixed.map((field) => {
    const column = { field, width: widths[field] ?? 96, sticky: left };
    left += column.width;
    return column;
  });
  return [...placed, ...loose.map((field) => ({ field, width: widths[field] ?? 96, sticky: null }))];
}
