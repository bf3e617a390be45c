// Groups of runs: those with the same text for a field, counted and summed up.

import type { RunGroup } from "#api/contract/run.ts";
import { type FieldRef, quoteText } from "./field.ts";
import { type FieldReader, groupText } from "./match.ts";
import type { RunsView } from "./run-table.ts";

/** Over the finite numbers of a column. */
type ColumnSum = RunGroup["aggregates"][string];

const groupsMax = 1000;

/** `places` in the order of the table, which is by group first. */
export function toGroups(
  view: RunsView,
  places: readonly number[],
  field: FieldRef,
  columns: readonly FieldRef[],
): RunGroup[] {
  const read = view.readerOf(field);
  const groups = Map.groupBy(places, (place) => groupText(read(place)));
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
    filter: `${field.text}==${quoteText(value)}`,
  }));
}

function sumUp(places: readonly number[], read: FieldReader<number>): ColumnSum | null {
  const numbers = places.flatMap((place) => read(place).flatMap(({ num }) => (num === null ? [] : [num])));
  if (numbers.length === 0) return null;
  const finite = Float64Array.from(numbers.filter(Number.isFinite)).sort();
  const { length: count } = finite;
  const at = (place: number): number | null => finite[place] ?? null;
  const [below, above] = [at((count - 1) >> 1), at(count >> 1)];
  return {
    count,
    nonfinite: numbers.length - count,
    min: at(0),
    median: below === null || above === null ? null : below + (above - below) / 2,
    mean: count === 0 ? null : finite.reduce((sum, each) => sum + each / count, 0),
    max: at(count - 1),
  };
}

function countStatuses(view: RunsView, places: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const place of places) {
    const { status } = view.rowAt(place).head;
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
