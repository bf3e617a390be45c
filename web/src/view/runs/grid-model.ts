// The rows and columns of the runs table as plain data.

import type { RunGroup, RunSummary } from "#api/contract/run.ts";
import { decimalsOfColumn, digitsOfColumn, toNumber } from "../../text/format-number.ts";

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
  const byGroup = Map.groupBy(runs, (run) => run.group ?? "");
  return groups.flatMap((group): GridRow[] => {
    const open = !closed.has(group.value);
    const inside = open ? (byGroup.get(group.value) ?? []) : [];
    return [{ kind: "group", group, open }, ...inside.map((run): GridRow => ({ kind: "run", run }))];
  });
}

export interface ColumnFormat {
  /** Significant digits, so that neighbours can be told apart. */
  readonly digits: number;
  /** Measured values stand point below point; parameters are shown as they were set. */
  readonly decimals: number | null;
}

/** What is measured has more digits than anybody reads. */
const measuredDigits = 5;

export const plainFormat: ColumnFormat = { digits: 4, decimals: null };

export function formatsOfColumns(
  runs: readonly RunSummary[],
  columns: readonly string[],
): ReadonlyMap<string, ColumnFormat> {
  return new Map(
    columns.map((column) => {
      const numbers = runs.flatMap((run) => {
        const number = toNumber(run.cells[column]?.num);
        return number === null ? [] : [number];
      });
      const digits = digitsOfColumn(numbers);
      const decimals = column.startsWith("metrics.")
        ? decimalsOfColumn(numbers, Math.min(digits, measuredDigits))
        : null;
      return [column, { digits, decimals }];
    }),
  );
}
