// For tests: commands with a journal in memory, and the workers they go to.

import { vi } from "vitest";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import { summarize } from "./book.ts";
import { type CommandStep, fromCommandRow, toStateChange } from "./command.ts";
import type { WorkerNews } from "./confirm.ts";
import { Control, type OtherCollectors, type OutgoingCommand } from "./control.ts";
import type { CommandOrder } from "./order.ts";

export const workspace = "default";
export const runId = "r1";

export const fromRecord = (record: readonly StateChange[]): CommandStep[] =>
  record.map(({ row }) => fromCommandRow(row as StateRow<"commands">) as CommandStep);

/** A journal of steps that folds them after a turn of the event loop, as the real one does after its sync. */
export function createRoom(journal: StateChange[][] = [], others?: OtherCollectors) {
  let ids = journal.length;
  let isFull = false;
  const troubles: unknown[] = [];
  const control: Control = new Control({
    nowNs: () => BigInt(Date.now()) * 1_000_000n,
    createId: (name) => name ?? `c${++ids}`,
    async record(steps) {
      await Promise.resolve();
      if (isFull) throw new Error("full");
      journal.push(steps.map((step) => toStateChange(step, BigInt(journal.length))));
      control.fold(fromRecord(journal.at(-1) as StateChange[]));
    },
    onTrouble: (cause) => troubles.push(cause),
    ...(others === undefined ? {} : { others }),
  });
  for (const record of journal) control.fold(fromRecord(record));
  return { control, journal, troubles, setFull: (full: boolean) => (isFull = full) };
}

export function createWorker(control: Control, worker: string, isReading = true) {
  const got: OutgoingCommand[] = [];
  const detach = control.attach(workspace, runId, worker, {
    async send(command) {
      if (isReading) got.push(command);
      return isReading;
    },
  });
  return { got, detach };
}

export const order = (more: Partial<CommandOrder> = {}): CommandOrder => ({
  workspace,
  runId,
  type: "pause",
  author: "ada",
  ...more,
});

export const settle = () => vi.advanceTimersByTimeAsync(5);

type NewsPart<N = WorkerNews> = N extends WorkerNews ? Omit<N, "workspace" | "runId"> : never;
export const news = (part: NewsPart): WorkerNews => ({ workspace, runId, ...part }) as WorkerNews;

export const stateOf = (control: Control, at = 0) => {
  const command = control.list(workspace, runId)[at];
  return command === undefined ? "none" : summarize(command).state;
};
