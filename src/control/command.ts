// The words of control. A command is a history of steps: each step says that for one worker the command reached one
// state, when, by whose order and why. Steps are plain records: the journal holds them, the `commands` table stores
// them, and folding them in any order gives the same book.
//
//   queued → delivered → confirmed | refused
//        └────────┴────→ expired | cancelled

import type { StateChange } from "#model/state-tables.ts";

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
  readonly workspace: string;
  readonly runId: string;
  readonly cmdId: string;
  /** A worker id, '' for a worker that has none, or `everyWorker`. */
  readonly worker: string;
  readonly type: CommandType;
  /** JSON text of an object. */
  readonly payload: string;
  readonly state: CommandState;
  /** What the worker answered, or why the command was given up; '' when there is nothing to say. */
  readonly reason: string;
  /** Who gave the command. */
  readonly author: string;
  readonly atNs: bigint;
  readonly expiresNs: bigint;
}

/** delivered follows queued, the four last states follow either and nothing follows them. */
export function rankOf(state: CommandState): 0 | 1 | 2 {
  if (state === "queued") return 0;
  return state === "delivered" ? 1 : 2;
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

/** The body of a journal record. */
export function encodeSteps(steps: readonly CommandStep[]): Uint8Array {
  const rows = steps.map((step) => ({ ...step, atNs: String(step.atNs), expiresNs: String(step.expiresNs) }));
  return textEncoder.encode(JSON.stringify(rows));
}

/** Reads only what `encodeSteps` wrote: the journal's checksum held. */
export function decodeSteps(bytes: Uint8Array): CommandStep[] {
  const rows = JSON.parse(textDecoder.decode(bytes)) as (CommandStep & { atNs: string; expiresNs: string })[];
  return rows.map((row) => ({ ...row, atNs: BigInt(row.atNs), expiresNs: BigInt(row.expiresNs) }));
}

export function toStateChange(step: CommandStep, version: bigint): StateChange {
  const { workspace, worker, type, payload, state, reason, author } = step;
  const names = { run_id: step.runId, cmd_id: step.cmdId, at_ns: step.atNs, expires_ns: step.expiresNs };
  return { table: "commands", row: { workspace, worker, type, payload, state, reason, author, ...names, version } };
}
