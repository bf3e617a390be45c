// The tables of runs of all workspaces.

import { Kept, type KeptShelf } from "#query/kept.ts";
import { readMetricCells, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import type { GroupScope } from "#store/reader/group-scope.ts";
import { type ArchivedRuns, readNewestRuns } from "#store/reader/newest-runs.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import { StoredParts } from "#store/reader/stored-parts.ts";
import type { Store } from "#store/store.ts";
import type { FieldRef } from "./field.ts";
import type { HeadContext } from "./head.ts";
import { groupsMaxUsual, type RunSource, type RunsView, RunTable } from "./run-table.ts";

export class KeptRuns {
  readonly source: RunSource;
  private readonly kept: Kept;
  private readonly groupsMax: number;
  /** By workspace. */
  private readonly tables: KeptShelf<RunTable>;

  constructor(source: RunSource, kept: Kept, groupsMax: number = groupsMaxUsual) {
    this.source = source;
    this.kept = kept;
    this.groupsMax = groupsMax;
    this.tables = kept.shelf("runs");
  }

  /**
   * Only the newest runs, while the table of all runs has not been read yet: after a start nobody waits for 100,000 runs
   * to see the first 100. The table is read in the background. Null if it is there already.
   */
  async askNewest<T>(
    workspace: string,
    { archived, limit }: { readonly archived: ArchivedRuns; readonly limit: number },
    fields: readonly FieldRef[],
    context: HeadContext,
    work: (view: RunsView) => T,
  ): Promise<{ readonly answer: T; readonly total: number } | null> {
    if (this.tables.get(workspace)?.isRead === true) return null;
    const newest = await this.source.newestRuns(workspace, archived, limit);
    const groups = newest.flatMap((run) => run.groups);
    const some = new RunTable(this.source, workspace, new Kept(), this.groupsMax, groups);
    const answer = await some.ask(fields, context, work);
    // What fails here fails again for whoever needs it.
    this.ask(workspace, [], context, () => {}).catch(() => {});
    return { answer, total: newest[0]?.total ?? 0 };
  }

  /** About some runs, whose groups are known: from the whole table when it is there, else without reading it. */
  async askSome<T>(
    workspace: string,
    groups: readonly string[],
    fields: readonly FieldRef[],
    context: HeadContext,
    work: (view: RunsView) => T,
  ): Promise<T> {
    if (this.tables.get(workspace)?.isRead === true) return this.ask(workspace, fields, context, work);
    return new RunTable(this.source, workspace, new Kept(), this.groupsMax, groups).ask(fields, context, work);
  }

  /** See `RunTable.ask`. A table that is dropped while it is being asked answers that question still. */
  async ask<T>(
    workspace: string,
    fields: readonly FieldRef[],
    context: HeadContext,
    work: (view: RunsView) => T,
  ): Promise<T> {
    const table = this.tables.get(workspace) ?? new RunTable(this.source, workspace, this.kept, this.groupsMax);
    const keep = () => this.tables.set(workspace, table, table.bytes, () => table.drop());
    keep();
    try {
      return await table.ask(fields, context, work);
    } finally {
      keep();
    }
  }
}

/** The rows of runs as they are stored. */
export function runSource(store: Store): RunSource {
  const scopeOf = (workspace: string, groups: readonly string[] | null): GroupScope =>
    groups === null ? { workspace } : { workspace, groupKeys: groups };
  return {
    newestRuns: (workspace, archived, limit) => readNewestRuns(store, workspace, archived, limit),
    watch: (workspace) => new StoredParts(store, workspace),
    runFacts: (workspace, groups) => readRunFacts(store, scopeOf(workspace, groups)),
    paramCells: (workspace, name, groups) => readParamCells(store, scopeOf(workspace, groups), name),
    metricCells: (workspace, key, stat, groups) => readMetricCells(store, scopeOf(workspace, groups), key, stat),
    metricCounts: (workspace, keys, groups) => readMetricCounts(store, scopeOf(workspace, groups), keys),
  };
}
