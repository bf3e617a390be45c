// Groups of runs: those with the same text for a field, counted and summed up.

import type { FieldRef } from "./field.ts";
import type { FieldReader } from "./match.ts";
import type { RunsView } from "./run-table.ts";

export interface RunsGroup {
  readonly value: string;
  readonly runs: number;
  readonly statuses: Record<string, number>;
  /** By column: over the finite numbers of its runs. */
  readonly aggregates: Record<string, { count: number; min: number; max: number; mean: number }>;
  /** A filter that finds exactly these runs. */
  readonly filter: string;
}

const groupsMax = 1000;

/** `places` in the order of the table, which is by group first. */
export function toGroups(
  view: RunsView,
  places: readonly number[],
  field: FieldRef,
  columns: readonly FieldRef[],
): RunsGroup[] {
  const read = view.readerOf(field);
  const groups = Map.groupBy(places, (place) => read(place)[0]?.text ?? "");
  return [...groups].slice(0, groupsMax).map(([value, members]) => ({
    value,
    runs: members.length,
    statuses: countStatuses(view, members),
    aggregates: Object.fromEntries(
      columns.flatMap((column) => {
        const sums = sumUp(members, view.readerOf(column));
        return sums === null ? [] : [[column.text, sums]];
      }),
    ),
    filter: value === "" ? `NOT ${field.text}~""` : `${field.text}=${JSON.stringify(value)}`,
  }));
}

function sumUp(places: readonly number[], read: FieldReader<number>): RunsGroup["aggregates"][string] | null {
  let count = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const place of places)
    for (const { num } of read(place)) {
      if (num === null || !Number.isFinite(num)) continue;
      count++;
      sum += num;
      min = Math.min(min, num);
      max = Math.max(max, num);
    }
  return count === 0 ? null : { count, min, max, mean: sum / count };
}

function countStatuses(view: RunsView, places: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const place of places) {
    const { status } = view.rowAt(place).head;
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
