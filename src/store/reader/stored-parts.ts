// Which groups of rows have changed, as told by the parts that hold them. The engine numbers the blocks that are
// inserted into a table; a part holds some of them and never changes, and merges and deletions only make other parts of
// the same blocks. So what is in blocks that were seen before is known, and everything else is new: whoever wrote it,
// and without anybody having to say so.

import type { Store } from "#store/store.ts";
import { count, readRows, text, word } from "./native-rows.ts";

/** The tables that the heads, params and metrics of runs are read from. */
const groupTables = [
  "groups",
  "group_times",
  "metric_summary",
  "param_by_key",
  "metrics",
  "events",
  "lifecycle",
  "nodes",
  "faults",
  "seq_ranges",
] as const;
/** By table, the runs that a row of it speaks of. */
const runTables: Readonly<Record<string, string>> = {
  run_edits: "run_id",
  joins: "arrayJoin([run_id, into_run])",
};

const tables: readonly string[] = [...groupTables, ...Object.keys(runTables)];

/**
 * A server fills `metric_by_key` with every insert, a moment after the summary; the embedded engine has nothing new in
 * it.
 */
const serverTables: readonly string[] = [...tables, "metric_by_key"];

export interface Changes {
  readonly groups: ReadonlySet<string>;
  readonly runs: ReadonlySet<string>;
}

const partRow = { table: text, name: text, first: count, last: count };

interface Part {
  readonly name: string;
  /** The blocks that it holds. */
  readonly first: number;
  readonly last: number;
}

/** Follows the runs of one workspace. */
export class StoredParts {
  private readonly store: Store;
  private readonly workspace: string;
  private seen: ReadonlyMap<string, readonly Part[]> | null = null;
  /** What `writesTo` returned before the known parts were read. */
  private writes: number | null = null;

  constructor(store: Store, workspace: string) {
    this.store = store;
    this.workspace = workspace;
  }

  /**
   * The groups and runs that got rows since the last call, and maybe some more; none the first time. Null if it cannot
   * be told: the replicas of a cluster do not get their parts all at once.
   */
  async takeChanges(): Promise<Changes | null> {
    const { store, seen } = this;
    if (store.cluster !== null) return null;
    const wanted = store.kind === "server" ? serverTables : tables;
    const writes = store.writesTo(wanted);
    if (seen !== null && writes !== null && writes === this.writes) return noChanges;
    const rows = await readRows(store, partRow, {
      sql: `SELECT table, name, toInt64(min_block_number) AS first, toInt64(max_block_number) AS last FROM system.parts
        WHERE active AND database = {database:String} AND table IN {tables:Array(String)}`,
      params: { database: store.database, tables: wanted },
    });
    const now = Map.groupBy(rows, (row) => row.table);
    const fresh = [...now].filter(([table, parts]) => parts.some((part) => !isCovered(part, seen?.get(table) ?? [])));
    const changes = seen === null || fresh.length === 0 ? noChanges : await this.readChanges(fresh, seen);
    this.seen = now;
    this.writes = writes;
    return changes;
  }

  /**
   * A part that was merged with newer ones since is another part by now, so everything outside the known parts is asked
   * for.
   */
  private async readChanges(
    fresh: readonly (readonly [table: string, parts: readonly Part[]])[],
    seen: ReadonlyMap<string, readonly Part[]>,
  ): Promise<Changes> {
    const { store, workspace } = this;
    const params: Record<string, string | string[]> = { workspace, prefix: `${workspace}/` };
    const questions = fresh.map(([table, parts]) => {
      const known = parts.filter((part) => isCovered(part, seen.get(table) ?? [])).map(({ name }) => name);
      params[`known_${table}`] = known;
      const runs = runTables[table];
      const [kind, key, mine] =
        runs !== undefined
          ? ["run", runs, "workspace = {workspace:String}"]
          : ["group", "toString(group_key)", "startsWith(toString(group_key), {prefix:String})"];
      return `SELECT DISTINCT '${kind}' AS kind, ${key} AS key FROM ${store.database}.${table}
        WHERE ${mine} AND _part NOT IN {known_${table}:Array(String)}`;
    });
    const shape = { kind: word<"group" | "run">(), key: text };
    const rows = await readRows(store, shape, { sql: questions.join(" UNION ALL "), params });
    const keysOf = (kind: string) => new Set(rows.filter((row) => row.kind === kind).map(({ key }) => key));
    return { groups: keysOf("group"), runs: keysOf("run") };
  }
}

const noChanges: Changes = { groups: new Set(), runs: new Set() };

/** Whether all blocks of a part were seen, in one part or in several. */
function isCovered({ first, last }: Part, seen: readonly Part[]): boolean {
  let next = first;
  for (const part of seen.toSorted((a, b) => a.first - b.first))
    if (part.first <= next && part.last >= next) next = part.last + 1;
  return next > last;
}
