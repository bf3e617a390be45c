// The runs of one workspace as a table in memory, with the params and metrics that were asked for as columns. It is read
// once; after that, only runs with newly stored rows are read again. Every question asks the store what is new, so an
// answer is never older than the position it names.

import { sourceAttributes } from "#model/otel-attributes.ts";
import { hasTrait } from "#protocol/facts.ts";
import type { Kept, KeptShelf } from "#query/kept.ts";
import type { ArchivedRuns, NewestRun } from "#store/reader/newest-runs.ts";
import type { RunFacts } from "#store/reader/run-facts.ts";
import type { Changes } from "#store/reader/stored-parts.ts";
import { type CellSource, readField } from "./cell-source.ts";
import { type CellField, FieldColumn } from "./column.ts";
import type { FieldRef, RunField } from "./field.ts";
import type { HeadContext } from "./head.ts";
import type { FieldReader } from "./match.ts";
import { type RunRow, rowAt, toRunRow } from "./row.ts";
import { runValues, toTagReader } from "./values.ts";

export interface RunSource extends CellSource {
  /** Of all runs of a workspace, or of those that these groups belong to: then only what these groups say. */
  runFacts(workspace: string, groups: readonly string[] | null): Promise<RunFacts[]>;
  /** The runs that began last, with their groups. */
  newestRuns(workspace: string, archived: ArchivedRuns, limit: number): Promise<readonly NewestRun[]>;
  /** Watches the runs of a workspace for changes from now on. */
  watch(workspace: string): RunWatch;
}

export interface RunWatch {
  /** What has changed since the last call, nothing at the first; null if that is not known. */
  takeChanges(): Promise<Changes | null>;
}

/** The table as it is during one answer. Runs are named by their places. */
export interface RunsView {
  readonly places: readonly number[];
  rowAt(place: number): RunRow;
  placeOf(runId: string): number | undefined;
  readerOf(field: FieldRef): FieldReader<number>;
  /** Whether a point of the metric is NaN or ±Infinity, whatever its phase. */
  isFlagged(field: FieldRef, place: number): boolean;
}

/** Groups that are read by name; when more have changed, everything is read. */
export const groupsMaxUsual = 5000;

/** A run with its head, roughly; a column's values come on top. */
const bytesPerRun = 950;

let tables = 0;

export class RunTable {
  private readonly source: RunSource;
  private readonly workspace: string;
  private readonly groupsMax: number;
  private readonly only: readonly string[] | null;
  private readonly watch: RunWatch;
  private readonly rows: (RunRow | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly placeOfRun = new Map<string, number>();
  private readonly placeOfGroup = new Map<string, number>();
  /** Places of runs about which silence decides. */
  private readonly open = new Set<number>();
  private readonly columns = new Map<string, FieldColumn>();
  private readonly shelf: KeptShelf<FieldColumn>;
  /** What is to be read again; null when everything is. */
  private changes: { readonly groups: Set<string>; readonly runs: Set<string> } | null = null;
  private turn: Promise<void> = Promise.resolve();

  /** `only` makes it a table of some groups, for one question. */
  constructor(
    source: RunSource,
    workspace: string,
    kept: Kept,
    groupsMax: number,
    only: readonly string[] | null = null,
  ) {
    this.source = source;
    this.workspace = workspace;
    this.only = only;
    this.groupsMax = groupsMax;
    this.watch = source.watch(workspace);
    this.shelf = kept.shelf(`columns of table ${++tables}`);
  }

  /** Whether all runs were read; what has come since is read at the next question. */
  get isRead(): boolean {
    return this.changes !== null;
  }

  /** Without its columns, which are kept beside it. */
  get bytes(): number {
    return this.placeOfRun.size * bytesPerRun;
  }

  /** To be called when the table is no longer kept. */
  drop(): void {
    for (const key of this.columns.keys()) this.shelf.delete(key);
  }

  /**
   * Brings the table up to date and gives it to `work`, which must not wait for anything: after it the next question
   * may change the table.
   */
  async ask<T>(fields: readonly FieldRef[], context: HeadContext, work: (view: RunsView) => T): Promise<T> {
    const before = this.turn;
    const done = Promise.withResolvers<void>();
    this.turn = done.promise;
    await before;
    try {
      await this.renew(context);
      const columns = await this.readColumns(fields);
      for (const place of this.open) this.rows[place] = rowAt(this.rows[place] as RunRow, context);
      return work(this.toView(columns));
    } finally {
      done.resolve();
    }
  }

  private async renew(context: HeadContext): Promise<void> {
    const found = await this.watch.takeChanges();
    if (found === null) this.changes = null;
    else if (this.changes !== null) {
      for (const group of found.groups) this.changes.groups.add(group);
      for (const run of found.runs) this.changes.runs.add(run);
    }
    const groups = this.changes === null ? null : this.groupsOf(this.changes);
    if (groups === null || groups.size > this.groupsMax) await this.readAll(context);
    else if (groups.size > 0) await this.readSome(groups, context);
    // What could not be read is read the next time.
    this.changes = { groups: new Set(), runs: new Set() };
  }

  /** The groups of every run that a change touches, as they were before. */
  private groupsOf({ groups, runs }: Changes): Set<string> {
    const wanted = new Set(groups);
    for (const group of groups) this.addGroups(this.placeOfGroup.get(group), wanted);
    for (const run of runs) this.addGroups(this.placeOfRun.get(run), wanted);
    return wanted;
  }

  private addGroups(place: number | undefined, wanted: Set<string>): void {
    if (place !== undefined) for (const { groupKey } of (this.rows[place] as RunRow).groups) wanted.add(groupKey);
  }

  private async readAll(context: HeadContext): Promise<void> {
    const facts = await this.source.runFacts(this.workspace, this.only);
    this.rows.length = 0;
    this.free.length = 0;
    this.placeOfRun.clear();
    this.placeOfGroup.clear();
    this.open.clear();
    for (const run of facts) this.put(toRunRow(run, context));
    for (const column of this.columns.values()) column.markStale(null);
  }

  private async readSome(groups: Set<string>, context: HeadContext): Promise<void> {
    let facts: RunFacts[];
    for (;;) {
      const asked = groups.size;
      facts = await this.source.runFacts(this.workspace, [...groups]);
      // A group may have come to another run: that one is read as a whole too.
      for (const { runId } of facts) this.addGroups(this.placeOfRun.get(runId), groups);
      if (groups.size === asked) break;
    }
    const places = new Set<number>();
    for (const group of groups) {
      const place = this.placeOfGroup.get(group);
      if (place !== undefined) places.add(place);
    }
    for (const place of places) this.remove(place);
    // In the places that are free now, the last one first: a run mostly finds its own again.
    for (const run of facts) places.add(this.put(toRunRow(run, context)));
    for (const column of this.columns.values()) column.markStale(places);
  }

  private put(row: RunRow): number {
    const place = this.free.pop() ?? this.rows.length;
    this.rows[place] = row;
    this.placeOfRun.set(row.runId, place);
    for (const { groupKey } of row.groups) this.placeOfGroup.set(groupKey, place);
    if (row.silence !== null) this.open.add(place);
    return place;
  }

  private remove(place: number): void {
    const row = this.rows[place] as RunRow;
    this.rows[place] = undefined;
    this.free.push(place);
    this.placeOfRun.delete(row.runId);
    for (const { groupKey } of row.groups) this.placeOfGroup.delete(groupKey);
    this.open.delete(place);
  }

  private async readColumns(fields: readonly FieldRef[]): Promise<ReadonlyMap<string, FieldColumn>> {
    const wanted = new Map<string, FieldColumn>();
    for (const field of fields.flatMap((one) => [one, ...resourceFieldsOf(one)])) {
      if (field.kind !== "param" && field.kind !== "metric") continue;
      const key = keyOf(field);
      const column = this.columns.get(key) ?? new FieldColumn(field);
      this.columns.set(key, column);
      wanted.set(key, column);
    }
    const reading = await Promise.allSettled(Array.from(wanted.values(), (column) => this.readColumn(column)));
    for (const one of reading) if (one.status === "rejected") throw one.reason;
    for (const [key, column] of wanted) this.shelf.set(key, column, column.bytes, () => this.columns.delete(key));
    return wanted;
  }

  private async readColumn(column: FieldColumn): Promise<void> {
    const stale = column.takeStale();
    if (stale !== null && stale.size === 0) return;
    try {
      const groups = stale === null ? null : this.groupsAt(stale);
      const isAll = groups === null || groups.length > this.groupsMax;
      const cellOf = await readField(this.source, this.workspace, column.field, isAll ? this.only : groups);
      if (isAll) column.clear(this.rows.length);
      for (const place of isAll ? this.rows.keys() : (stale as ReadonlySet<number>)) {
        const row = this.rows[place];
        const { values, isFlagged } = row === undefined ? { values: [], isFlagged: false } : cellOf(row);
        column.set(place, values, isFlagged);
      }
    } catch (cause) {
      column.markStale(stale);
      throw cause;
    }
  }

  private groupsAt(places: Iterable<number>): string[] {
    const groups: string[] = [];
    for (const place of places) for (const { groupKey } of this.rows[place]?.groups ?? []) groups.push(groupKey);
    return groups;
  }

  private toView(columns: ReadonlyMap<string, FieldColumn>): RunsView {
    const { rows, placeOfRun } = this;
    const columnOf = (field: CellField) => columns.get(keyOf(field)) as FieldColumn;
    return {
      places: [...placeOfRun.values()],
      rowAt: (place) => rows[place] as RunRow,
      placeOf: (runId) => placeOfRun.get(runId),
      readerOf(field) {
        switch (field.kind) {
          case "run": {
            const told = resourceFieldsOf(field).map(columnOf);
            return (place) => {
              const row = rows[place] as RunRow;
              const own = runValues(row, field.name);
              if (own.length > 0 || told.length === 0 || !hasResource(row)) return own;
              return told.map((column) => column.valuesAt(place)).find((values) => values.length > 0) ?? own;
            };
          }
          case "tag": {
            const read = toTagReader(field.name);
            return (place) => read(rows[place] as RunRow);
          }
          default: {
            const column = columnOf(field);
            return (place) => column.valuesAt(place);
          }
        }
      },
      isFlagged: (field, place) => field.kind === "metric" && columnOf(field).isFlagged(place),
    };
  }
}

function keyOf(field: CellField): string {
  return field.kind === "param"
    ? JSON.stringify(["param", field.name])
    : JSON.stringify([field.key, field.phase, field.stat]);
}

// Where a run ran and out of which source, when its client says so as attributes of a resource, which are its params.

type ParamField = Extract<FieldRef, { kind: "param" }>;

const attributes: Readonly<Partial<Record<RunField, readonly string[]>>> = {
  host: ["host.name"],
  user: ["process.owner"],
  commit: sourceAttributes.git_commit,
  branch: sourceAttributes.git_branch,
};

/** The params that stand for a field of the run; the first that is present counts. */
function resourceFieldsOf(field: FieldRef): ParamField[] {
  if (field.kind !== "run") return [];
  return (attributes[field.name] ?? []).map((name) => ({ kind: "param", name, text: `params.${name}` }));
}

function hasResource({ groups }: Pick<RunRow, "groups">): boolean {
  return groups.some(({ protocol }) => hasTrait(protocol, "resources"));
}
