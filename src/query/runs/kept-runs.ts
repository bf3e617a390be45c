// The tables of runs of all workspaces.

import type { Kept, KeptShelf } from "#query/kept.ts";
import { readMetricCells, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import type { GroupScope } from "#store/reader/group-scope.ts";
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

  /** See `RunTable.ask`. A table that is let go while it is being asked answers that question still. */
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
    watch: (workspace) => new StoredParts(store, workspace),
    runFacts: (workspace, groups) => readRunFacts(store, scopeOf(workspace, groups)),
    paramCells: (workspace, name, groups) => readParamCells(store, scopeOf(workspace, groups), name),
    metricCells: (workspace, key, stat, groups) => readMetricCells(store, scopeOf(workspace, groups), key, stat),
    metricCounts: (workspace, keys, groups) => readMetricCounts(store, scopeOf(workspace, groups), keys),
  };
}
