// Which run the groups of XTrack, Semantiva and captured output belong to: the id the records themselves
// carry, unless a path, a wrapper or `--run-id` named the run. Both stay names of it.

import { type GroupKey, parseGroupKey } from "#model/group-key.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";

export interface GroupCause {
  readonly workspace: string;
  readonly protocol: "xtrack" | "semantiva" | "launch" | "run";
  /** The id the records carry. */
  readonly ownId: string;
  readonly runOverride: string | null;
  readonly imported: boolean;
  readonly receivedNs: bigint;
}

interface KnownGroup {
  readonly runId: string;
  readonly imported: boolean;
}

export class PlainGroups {
  private readonly known = new Map<string, KnownGroup>();

  restore(row: StateRow<"groups">): void {
    this.known.set(row.group_key, { runId: row.run_id, imported: row.imported === 1 });
  }

  /**
   * What the store says of a group after another collector wrote it. Both collectors choose as if all arrivals had come
   * to one of them; returned is the row that should stand there instead, if any.
   */
  merge(row: StateRow<"groups">, nowNs: bigint): StateChange[] {
    const before = this.known.get(row.group_key);
    if (before === undefined) {
      this.restore(row);
      return [];
    }
    const { ownId } = parseGroupKey(row.group_key);
    const runId = pickRun(before.runId, { ownId, runOverride: row.run_id === ownId ? null : row.run_id });
    const imported = before.imported && row.imported === 1;
    this.known.set(row.group_key, { runId, imported });
    if (runId === row.run_id && imported === (row.imported === 1)) return [];
    return [{ table: "groups", row: { ...row, run_id: runId, imported: imported ? 1 : 0, version: nowNs } }];
  }

  runOf(groupKey: string): string | undefined {
    return this.known.get(groupKey)?.runId;
  }

  forget(groupKey: string): void {
    this.known.delete(groupKey);
  }

  /** The changes that this arrival makes: none for a group that is known with the same run. */
  note(groupKey: GroupKey, cause: GroupCause): StateChange[] {
    const before = this.known.get(groupKey);
    // A named run wins over the records' own id and, of two names, the smaller: no order of arrival matters.
    const runId = pickRun(before?.runId, cause);
    if (before !== undefined && before.runId === runId && before.imported === (before.imported && cause.imported))
      return [];
    // One live arrival makes the group live: only what came by import alone counts as imported.
    const imported = (before?.imported ?? true) && cause.imported;
    this.known.set(groupKey, { runId, imported });
    const { workspace, receivedNs: version } = cause;
    const names = [...new Set([runId, cause.ownId])].filter((name) => name !== "");
    return [
      { table: "groups", row: toRow(groupKey, runId, imported, cause) },
      ...names.map(
        (alias): StateChange => ({ table: "aliases", row: { workspace, alias, group_key: groupKey, version } }),
      ),
    ];
  }
}

function pickRun(before: string | undefined, cause: Pick<GroupCause, "ownId" | "runOverride">): string {
  const named = cause.runOverride;
  if (before === undefined) return named ?? cause.ownId;
  if (named === null) return before;
  return before === cause.ownId || named < before ? named : before;
}

function toRow(groupKey: GroupKey, runId: string, imported: boolean, cause: GroupCause): StateRow<"groups"> {
  return {
    group_key: groupKey,
    workspace: cause.workspace,
    protocol: cause.protocol,
    run_id: runId,
    session_id: "",
    root_kind: "",
    rank: 0,
    pipeline_id: null,
    deployment_id: null,
    model_id: null,
    forked: 0,
    imported: imported ? 1 : 0,
    deleted_ns: 0n,
    version: cause.receivedNs,
  };
}
