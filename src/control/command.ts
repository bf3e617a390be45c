// A command is a history of steps. Each step says that for one worker the command reached one state, when, by whom and
// why. Steps are plain records: the journal holds them, the `commands` table stores them, and folding them in any order
// gives the same book.
//
//   queued → delivered → confirmed | refused
//        └────────┴────→ expired | cancelled

import type { RunId, WorkerId, Workspace } from "#model/names.ts";
import type { StateChange, StateRow } from "#model/state-tables.ts";

export const commandTypes = [
  "pause",
  "resume",
  "stop",
  "checkpoint_now",
  "update_params",
  "adjust_lr",
  "custom",
] as const;
export type CommandType = (typeof commandTypes)[number];

export const commandStates = ["queued", "delivered", "confirmed", "refused", "expired", "cancelled"] as const;
export type CommandState = (typeof commandStates)[number];

/** Stands for all workers of a run in the steps of a command that was not sent to one. */
export const everyWorker = "*";

export interface CommandStep {
  readonly workspace: Workspace;
  readonly runId: RunId;
  readonly cmdId: string;
  /** A worker id, '' for a worker that has none, or `everyWorker`. */
  readonly worker: WorkerId;
  readonly type: CommandType;
  /** JSON text of an object. */
  readonly payload: string;
  readonly state: CommandState;
  /** Why it was queued, what the worker answered, or why it was given up; may be ''. */
  readonly reason: string;
  /** Who sent the command. */
  readonly author: string;
  readonly atNs: bigint;
  readonly expiresNs: bigint;
}

/** `delivered` follows `queued`; the last four states follow either and are final. */
export function rankOf(state: CommandState): 0 | 1 | 2 {
  if (state === "queued") return 0;
  return state === "delivered" ? 1 : 2;
}

/** A step as a row of the `commands` table, which is also how the journal holds it. */
export function toStateChange(step: CommandStep, version: bigint): StateChange {
  const { workspace, worker, type, payload, state, reason, author } = step;
  const names = { run_id: step.runId, cmd_id: step.cmdId, at_ns: step.atNs, expires_ns: step.expiresNs };
  return { table: "commands", row: { workspace, worker, type, payload, state, reason, author, ...names, version } };
}

/** Null if the row has a state or type that this version does not know. */
export function fromCommandRow(row: StateRow<"commands">): CommandStep | null {
  const type = commandTypes.find((word) => word === row.type);
  const state = commandStates.find((word) => word === row.state);
  if (type === undefined || state === undefined) return null;
  const { workspace, worker, payload, reason, author } = row;
  const names = { runId: row.run_id, cmdId: row.cmd_id, atNs: row.at_ns, expiresNs: row.expires_ns };
  return { workspace, worker, type, payload, state, reason, author, ...names };
}
