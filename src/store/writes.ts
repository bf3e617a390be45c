// How often a store's tables were written to, for a store that only this process writes to. A number that is still the
// same says that no row came or went: a write counts when it begins and again when it ends, however it ends.

import { paramsByKey, type Summary, summaries } from "./schema/summaries.ts";

/** Those that an insert fills in the embedded engine, the only store whose writes are counted. */
const allSummaries: readonly Summary[] = [...summaries, paramsByKey];

export class Writes {
  private everywhere = 0;
  private readonly perTable = new Map<string, number>();

  async to<T>(table: string, work: () => Promise<T>): Promise<T> {
    const tables = writtenWith(table);
    this.count(tables);
    return work().finally(() => this.count(tables));
  }

  /** A statement that may change any table. */
  async anywhere<T>(work: () => Promise<T>): Promise<T> {
    this.everywhere++;
    return work().finally(() => this.everywhere++);
  }

  of(tables: readonly string[]): number {
    return tables.reduce((sum, table) => sum + (this.perTable.get(table) ?? 0), this.everywhere);
  }

  private count(tables: readonly string[]): void {
    for (const table of tables) this.perTable.set(table, (this.perTable.get(table) ?? 0) + 1);
  }
}

const withSummaries = new Map<string, readonly string[]>();

/** A table and what the engine sums up of its rows, some of it again. */
function writtenWith(table: string): readonly string[] {
  const known = withSummaries.get(table);
  if (known !== undefined) return known;
  const fed = allSummaries.filter(({ sources }) => table in sources).flatMap(({ target }) => writtenWith(target.name));
  const tables = [...new Set([table, ...fed])];
  withSummaries.set(table, tables);
  return tables;
}
