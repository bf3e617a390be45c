// A page of the table of runs: filtered, sorted, grouped. Everything is decided on places and columns; only the runs of
// the page are looked at as a whole.

import type { RunGroup } from "#api/contract/run.ts";
import type { Sources } from "#query/sources.ts";
import { cellsAt, countNonfinite, type RowCells, type UncountedRow } from "./cells.ts";
import { type FieldRef, quoteText } from "./field.ts";
import { type Filter, fieldsOf } from "./filter.ts";
import type { HeadContext } from "./head.ts";
import type { KeptRuns } from "./kept-runs.ts";
import { type FieldReader, type FieldValue, groupText, toPredicate } from "./match.ts";
import type { RunRow } from "./row.ts";
import type { RunsView } from "./run-table.ts";

export interface RunsQuestion {
  readonly workspace: string;
  readonly filter: Filter | null;
  readonly sort: readonly { readonly field: FieldRef; readonly descending: boolean }[];
  readonly columns: readonly FieldRef[];
  readonly group: FieldRef | null;
  readonly archived: "hide" | "show" | "only";
  readonly limit: number;
  /** The sort values and id of the last run of the page before. */
  readonly after: SortKey | null;
}

export interface RunsPage {
  readonly rows: readonly RowCells[];
  readonly total: number;
  readonly next: SortKey | null;
  /** By run of the page: the text of its group, '' when it has no such field; and the groups of all runs that match. */
  readonly grouped: { readonly texts: readonly string[]; readonly groups: readonly RunGroup[] } | null;
}

export async function listRuns(
  { runs }: Pick<Sources, "runs">,
  question: RunsQuestion,
  context: HeadContext,
): Promise<RunsPage> {
  const fields = [
    ...fieldsOf(question.filter),
    ...question.sort.map(({ field }) => field),
    ...question.columns,
    ...(question.group === null ? [] : [question.group]),
  ];
  const page =
    (await firstPage(runs, question, fields, context)) ??
    (await runs.ask(question.workspace, fields, context, (view) => toPage(view, question, context.nowNs)));
  return { ...page, rows: await countNonfinite(runs.source, question.workspace, page.rows) };
}

const firstPageMax = 1000;

/** Null when the question is about more than the newest runs, or when all runs are at hand. */
async function firstPage(
  runs: KeptRuns,
  question: RunsQuestion,
  fields: readonly FieldRef[],
  context: HeadContext,
): Promise<UncountedPage | null> {
  const { workspace, filter, sort, group, archived, after, limit } = question;
  if (filter !== null || sort.length > 0 || group !== null || after !== null || limit > firstPageMax) return null;
  // One more than is shown tells whether there is another page.
  const wanted = { archived, limit: limit + 1 };
  const found = await runs.askNewest(workspace, wanted, fields, context, (view) =>
    toPage(view, question, context.nowNs),
  );
  return found === null ? null : { ...found.answer, total: found.total };
}

/** These fields of these runs; runs that do not exist are left out. */
export async function readCells(
  { runs: tables }: Pick<Sources, "runs">,
  question: { readonly workspace: string; readonly runs: readonly string[]; readonly fields: readonly FieldRef[] },
  context: HeadContext,
): Promise<RowCells[]> {
  const { workspace, runs, fields } = question;
  const found = await tables.ask(workspace, fields, context, (view) =>
    runs.flatMap((run) => {
      const place = view.placeOf(run);
      return place === undefined ? [] : [cellsAt(view, place, fields)];
    }),
  );
  return countNonfinite(tables.source, workspace, found);
}

type UncountedPage = Omit<RunsPage, "rows"> & { readonly rows: readonly UncountedRow[] };

function toPage(view: RunsView, question: RunsQuestion, nowNs: bigint): UncountedPage {
  const { group, after, limit } = question;
  const matching = view.places.filter(toTest(view, question, nowNs));
  const keyOf = toKeyReader(view, question);
  const descending = [...(group === null ? [] : [false]), ...question.sort.map((one) => one.descending)];
  // The groups come in the order of all runs, so all runs are sorted.
  const first = new FirstOnes(group === null ? limit : Number.MAX_SAFE_INTEGER, descending);
  let left = 0;
  for (const place of matching) {
    const key = keyOf(place);
    const isAfter = after === null || compareKeys(key, after, descending) > 0;
    if (isAfter) left++;
    if (isAfter || group !== null) first.offer(place, key);
  }
  const sorted = first.take();
  const page = sorted.slice(sorted.length - Math.min(left, sorted.length)).slice(0, limit);
  return {
    rows: page.map(({ place }) => cellsAt(view, place, question.columns)),
    total: matching.length,
    next: left > limit ? ((page.at(-1) as Keyed | undefined)?.key ?? null) : null,
    grouped: group === null ? null : toGrouped(view, page, sorted, question.columns, group),
  };
}

function toGrouped(
  view: RunsView,
  page: readonly Keyed[],
  sorted: readonly Keyed[],
  columns: readonly FieldRef[],
  group: FieldRef,
): RunsPage["grouped"] {
  const read = view.readerOf(group);
  const places = sorted.map(({ place }) => place);
  return {
    texts: page.map(({ place }) => groupText(read(place))),
    groups: toGroups(view, places, group, columns),
  };
}

function toTest(view: RunsView, { filter, archived }: RunsQuestion, nowNs: bigint): (place: number) => boolean {
  const isShown = (place: number): boolean =>
    archived === "show" || (view.rowAt(place).edit?.archived ?? false) === (archived === "only");
  if (filter === null) return isShown;
  const source = { readerOf: view.readerOf, wordsOf: (place: number) => wordsOf(view.rowAt(place)) };
  const isMatch = toPredicate(filter, source, nowNs);
  return (place) => isShown(place) && isMatch(place);
}

/** What a bare word of a filter is looked for in. */
export function wordsOf(row: RunRow): string[] {
  return [row.name, row.runId, row.head.experiment, ...row.tags];
}

/** The group, then the sorted fields or else the start, newest first, then the id. */
function toKeyReader(view: RunsView, { group, sort }: RunsQuestion): (place: number) => SortKey {
  const fields = [...(group === null ? [] : [group]), ...sort.map(({ field }) => field)];
  const readers = fields.map((field) => view.readerOf(field));
  const isDefault = sort.length === 0;
  return (place) => {
    const row = view.rowAt(place);
    const key: (string | number | null)[] = readers.map((read) => toSortValue(read(place)[0]));
    if (isDefault) key.push(row.head.startNs === null ? null : -Number(row.head.startNs));
    key.push(row.runId);
    return key;
  };
}

// Groups of runs: those with the same text for a field, counted and summed up.

/** Over the finite numbers of a column. */
type ColumnSum = RunGroup["aggregates"][string];

const groupsMax = 1000;

/** `places` in the order of the table, which is by group first. */
function toGroups(
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

// The order of runs: by the values that were asked for, the id last, so that no two runs are equal and a page can begin
// after any run, also one that is gone.

/** The values that decide a run's place in the order. It is what a cursor holds. */
type SortKey = readonly (string | number | null)[];

function toSortValue(value: FieldValue | undefined): string | number | null {
  if (value === undefined) return null;
  if (value.num === null) return value.text;
  // NaN has no place among numbers and no form in a cursor: it stands with the texts, after them.
  return Number.isNaN(value.num) ? "NaN" : value.num;
}

/** `descending` by position; a run without the value comes last, whichever way the sort goes. */
function compareKeys(a: SortKey, b: SortKey, descending: readonly boolean[]): number {
  for (let at = 0; at < a.length; at++) {
    const left = a[at] ?? null;
    const right = b[at] ?? null;
    const order = compareValues(left, right);
    if (order === 0) continue;
    return left !== null && right !== null && descending[at] === true ? -order : order;
  }
  return 0;
}

function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : 1;
}

interface Keyed {
  readonly place: number;
  readonly key: SortKey;
}

/** Keeps the first `limit` of all that it is offered; a page of 100 out of 100,000 needs no sorting of the rest. */
class FirstOnes {
  private readonly limit: number;
  private readonly compare: (a: SortKey, b: SortKey) => number;
  private held: Keyed[] = [];
  /** Whatever comes after this is not among the first. */
  private worst: SortKey | null = null;

  constructor(limit: number, descending: readonly boolean[]) {
    this.limit = limit;
    this.compare = (a, b) => compareKeys(a, b, descending);
  }

  offer(place: number, key: SortKey): void {
    if (this.worst !== null && this.compare(key, this.worst) > 0) return;
    this.held.push({ place, key });
    if (this.held.length >= 2 * this.limit) this.cut();
  }

  take(): readonly Keyed[] {
    this.cut();
    return this.held;
  }

  private cut(): void {
    this.held.sort((a, b) => this.compare(a.key, b.key));
    if (this.held.length < this.limit) return;
    this.held.length = this.limit;
    this.worst = (this.held.at(-1) as Keyed).key;
  }
}
