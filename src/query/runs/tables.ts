// The tables of runs of all workspaces, kept while they fit. Whoever stores rows tells what it has stored.

import type { Batch } from "#model/batch.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { readMetricCells, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import type { GroupScope } from "#store/reader/group-scope.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import type { Store } from "#store/store.ts";
import type { FieldRef } from "./field.ts";
import type { HeadContext } from "./head.ts";
import { type RunSource, type RunsView, RunTable, type TableLimits, usualLimits } from "./table.ts";

export interface RunTablesOptions extends TableLimits {
  /**
   * False when others write to the same store, of which this server is not told: then nothing is kept from one question
   * to the next.
   */
  readonly kept: boolean;
  /** Runs in memory, of all workspaces. */
  readonly runsMax: number;
}

export const usualTables: RunTablesOptions = { ...usualLimits, kept: true, runsMax: 500_000 };

export class RunTables {
  readonly source: RunSource;
  private readonly options: RunTablesOptions;
  /** By workspace, those asked last at the end. */
  private readonly tables = new Map<string, RunTable>();

  constructor(source: RunSource, options: RunTablesOptions = usualTables) {
    this.source = source;
    this.options = options;
  }

  /** See `RunTable.ask`. */
  async ask<T>(
    workspace: string,
    fields: readonly FieldRef[],
    context: HeadContext,
    work: (view: RunsView) => T,
  ): Promise<T> {
    const table = this.tables.get(workspace) ?? new RunTable(this.source, workspace, this.options);
    this.tables.delete(workspace);
    if (this.options.kept) this.tables.set(workspace, table);
    try {
      return await table.ask(fields, context, work);
    } finally {
      this.shrink();
    }
  }

  /** To be told of everything that is stored, in the moment in which it can be read. */
  note(batches: readonly Batch[]): void {
    if (this.tables.size === 0) return;
    const changes = toChanges(batches);
    for (const [workspace, table] of this.tables) {
      const { groups, runs } = changes.get(workspace) ?? { groups: [], runs: [] };
      table.note(groups, runs);
    }
  }

  /** A table that is dropped while it is being asked answers that question still. */
  private shrink(): void {
    let size = 0;
    for (const table of this.tables.values()) size += table.size;
    for (const [workspace, table] of this.tables) {
      if (size <= this.options.runsMax) return;
      this.tables.delete(workspace);
      size -= table.size;
    }
  }
}

interface Changes {
  readonly groups: Set<string>;
  readonly runs: Set<string>;
}

/** By workspace: the groups that got rows or came to another run, and the runs that people edited. */
function toChanges(batches: readonly Batch[]): Map<string, Changes> {
  const changes = new Map<string, Changes>();
  const of = (workspace: string): Changes => {
    let mine = changes.get(workspace);
    if (mine === undefined) {
      mine = { groups: new Set(), runs: new Set() };
      changes.set(workspace, mine);
    }
    return mine;
  };
  for (const { parts, state } of batches) {
    for (const { rows } of parts)
      for (const group of rows.group_key.keys) of(parseGroupKey(group).workspace).groups.add(group);
    for (const { table, row } of state) {
      if (table === "groups") of(row.workspace).groups.add(row.group_key);
      else if (table === "run_edits") of(row.workspace).runs.add(row.run_id);
    }
  }
  return changes;
}

/** The rows of runs as they are stored. */
export function runSource(store: Store): RunSource {
  const scopeOf = (workspace: string, groups: readonly string[] | null): GroupScope =>
    groups === null ? { workspace } : { workspace, groupKeys: groups };
  return {
    runFacts: (workspace, groups) => readRunFacts(store, scopeOf(workspace, groups)),
    paramCells: (workspace, name, groups) => readParamCells(store, scopeOf(workspace, groups), name),
    metricCells: (workspace, key, stat, groups) => readMetricCells(store, scopeOf(workspace, groups), key, stat),
    metricCounts: (workspace, keys, groups) => readMetricCounts(store, scopeOf(workspace, groups), keys),
  };
}
