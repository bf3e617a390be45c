// The known commands, folded from their steps.

import type { RunId, WorkerId, Workspace } from "#model/names.ts";
import { type CommandState, type CommandStep, type CommandType, everyWorker, rankOf } from "./command.ts";

export interface Target {
  readonly worker: WorkerId;
  state: CommandState;
  /** When it reached its state. */
  atNs: bigint;
  deliveredNs: bigint | null;
  reason: string;
}

export interface Command {
  readonly workspace: Workspace;
  readonly runId: RunId;
  readonly cmdId: string;
  readonly type: CommandType;
  readonly payload: string;
  readonly author: string;
  /** Why it was sent; may be ''. */
  reason: string;
  createdNs: bigint;
  readonly expiresNs: bigint;
  /**
   * The state of a command to all workers as a whole; it also goes to workers that connect while it is open. Null for
   * one worker.
   */
  all: Target | null;
  readonly targets: Map<string, Target>;
}

/** The state of a command as a whole. */
export interface Summary {
  readonly state: CommandState;
  readonly deliveredNs: bigint | null;
  readonly settledNs: bigint | null;
  readonly note: string;
}

/** Settled commands beyond this number are forgotten, oldest first; the store still has their steps. */
const settledMax = 10_000;

export class CommandBook {
  private readonly commands = new Map<string, Command>();
  private readonly byRun = new Map<string, Set<Command>>();
  private readonly open = new Set<Command>();

  fold(step: CommandStep): Command {
    const command = this.commands.get(step.cmdId) ?? this.add(step);
    if (step.atNs < command.createdNs) command.createdNs = step.atNs;
    // Steps arrive in any order; only the first says why.
    if (step.state === "queued" && step.reason !== "") command.reason = step.reason;
    if (step.worker === everyWorker) command.all = advance(command.all, step);
    else command.targets.set(step.worker, advance(command.targets.get(step.worker) ?? null, step));
    if (isOpen(command)) this.open.add(command);
    else {
      this.open.delete(command);
      this.forgetOldest();
    }
    return command;
  }

  find(cmdId: string): Command | undefined {
    return this.commands.get(cmdId);
  }

  /** Oldest first. */
  ofRun(workspace: Workspace, runId: RunId): Command[] {
    const found = [...(this.byRun.get(toRunKey(workspace, runId)) ?? [])];
    // Rows read back from the store are in any order.
    return found.sort((a, b) => Number(a.createdNs - b.createdNs));
  }

  openOnes(): Iterable<Command> {
    return this.open;
  }

  /** Commands that a worker was sent and has not answered. */
  unanswered(): Command[] {
    const isSent = ({ state }: Target): boolean => state === "delivered";
    return [...this.open].filter(({ targets }) => [...targets.values()].some(isSent));
  }

  isNews({ cmdId, worker, state }: CommandStep): boolean {
    const known = this.commands.get(cmdId)?.targets.get(worker);
    // The delivery time matters after the answer too.
    if (state === "delivered") return (known?.deliveredNs ?? null) === null;
    return rankOf(known?.state ?? "queued") < rankOf(state);
  }

  private add(step: CommandStep): Command {
    const { workspace, runId, cmdId, type, payload, author, atNs, expiresNs } = step;
    const named = { workspace, runId, cmdId, type, payload, author };
    const command: Command = { ...named, reason: "", createdNs: atNs, expiresNs, all: null, targets: new Map() };
    this.commands.set(cmdId, command);
    const key = toRunKey(workspace, runId);
    const ofRun = this.byRun.get(key);
    if (ofRun === undefined) this.byRun.set(key, new Set([command]));
    else ofRun.add(command);
    return command;
  }

  private forgetOldest(): void {
    if (this.commands.size - this.open.size <= settledMax) return;
    for (const command of this.commands.values()) {
      if (this.open.has(command)) continue;
      this.commands.delete(command.cmdId);
      const key = toRunKey(command.workspace, command.runId);
      this.byRun.get(key)?.delete(command);
      if (this.byRun.get(key)?.size === 0) this.byRun.delete(key);
      return;
    }
  }
}

export function toRunKey(workspace: Workspace, runId: RunId): string {
  return `${workspace}\0${runId}`;
}

// A state only moves forward. A delivery that arrives after its answer still adds its time.
function advance(target: Target | null, step: CommandStep): Target {
  const { worker, state, atNs, reason } = step;
  const deliveredNs = state === "delivered" ? atNs : null;
  if (target === null) return { worker, state, atNs, deliveredNs, reason };
  target.deliveredNs ??= deliveredNs;
  if (rankOf(state) > rankOf(target.state)) {
    target.state = state;
    target.atNs = atNs;
    target.reason = reason;
  }
  return target;
}

/** Whether somebody may still get or answer the command. */
export function isOpen(command: Command): boolean {
  const { all, targets } = command;
  for (const target of targets.values()) if (rankOf(target.state) < 2) return true;
  return all !== null && rankOf(all.state) < 2 && targets.size === 0;
}

/** Whether a worker that connects now should get the command. */
export function isFor(command: Command, worker: WorkerId): boolean {
  const target = command.targets.get(worker);
  if (target !== undefined) return target.state === "queued";
  return command.all !== null && command.all.state === "queued" && isOpen(command);
}

// Worst first: refused, never answered, cancelled.
const finalOrder: readonly CommandState[] = ["refused", "expired", "cancelled", "confirmed"];

export function summarize(command: Command): Summary {
  const every = [...command.targets.values()];
  const parts = every.length > 0 ? every : command.all === null ? [] : [command.all];
  const isDone = parts.every((part) => rankOf(part.state) === 2);
  const isBegun = parts.some((part) => part.state !== "queued");
  const final = finalOrder.find((state) => parts.some((part) => part.state === state));
  const deliveries = parts.flatMap((part) => (part.deliveredNs === null ? [] : [part.deliveredNs]));
  const answered = parts.filter(({ state, reason }) => state !== "queued" && reason !== "");
  const reasons = answered.map(({ worker, reason }) => noteOf(worker, reason, every.length));
  return {
    state: isDone && final !== undefined ? final : isBegun ? "delivered" : "queued",
    deliveredNs: deliveries.reduce<bigint | null>((least, at) => (least === null || at < least ? at : least), null),
    settledNs: isDone ? parts.reduce((last, part) => (part.atNs > last ? part.atNs : last), 0n) : null,
    note: reasons.join("; "),
  };
}

function noteOf(worker: WorkerId, reason: string, count: number): string {
  return count > 1 && worker !== "" ? `${worker}: ${reason}` : reason;
}
