// Commands to workers: what was ordered, who has received it, and who obeyed.
//
// All changes go through the journal: every step leaves through `record` and counts once it returns through `fold`,
// after a restart too. Until `ready` nothing is sent or recorded, because the rest of the journal may already hold the
// answer.
//
// A command is handed to a worker once. After it has been sent it is not sent again, even if the worker reconnects
// without having answered: a job that was stopped and started again must not be stopped again.

import type { RunId, WorkerId, Workspace } from "#model/names.ts";
import { type Command, CommandBook, isFor, isOpen, type Target, toRunKey } from "./book.ts";
import { type CommandState, type CommandStep, type CommandType, everyWorker, rankOf } from "./command.ts";
import { judge, type WorkerNews } from "./confirm.ts";
import { type CommandOrder, checkOrder, nameOf, type OrderRefusal, payloadOf } from "./order.ts";

export interface ControlPorts {
  /** Resolves when the steps are durable and folded. */
  record(steps: readonly CommandStep[]): Promise<void>;
  nowNs(): bigint;
  /** The id of a new command; it begins with `name` if there is one. */
  createId(name?: string): string;
  /** Reports that a step which no caller waits for could not be recorded. */
  onTrouble(cause: unknown): void;
  /** The other collectors; absent if there is only this one. */
  readonly others?: OtherCollectors;
}

/** The collector that a command was posted to owns it. Only the owner decides who hands it to a worker. */
export interface OtherCollectors {
  /** Whether this collector decides about the command: it owns it, or its owner is gone. */
  isOurs(cmdId: string): boolean;
  /** Asks the owner for the right to deliver. False if someone else has it, or if the owner cannot be asked now. */
  claim(cmdId: string, worker: WorkerId): Promise<boolean>;
  /** Returns a claim that could not be used. */
  unclaim(cmdId: string, worker: WorkerId): void;
  /** Workers of the run that accept commands at other collectors. */
  accepting(workspace: Workspace, runId: RunId): readonly string[];
}

/** A channel to one worker: a connection that asked for commands, or the stdin of a child. */
export interface WorkerChannel {
  /** Resolves with true when the command has been sent, with false if it cannot be. */
  send(command: OutgoingCommand): Promise<boolean>;
}

export interface OutgoingCommand {
  readonly cmdId: string;
  readonly type: CommandType;
  /** JSON text of an object. */
  readonly payload: string;
}

export interface WorkerAck {
  readonly cmdId: string;
  readonly worker: WorkerId;
  readonly isOk: boolean;
  readonly error: string;
}

export const expiresMsDefault: number = 10 * 60 * 1000;
const openPerRunMax = 1000;
const runsMax = 20_000;
const timerMsMax = 2 ** 31 - 1;
const tryAgainMs = 1000;

interface Run {
  /** The newest connection of a worker is last; an older one may be dead without knowing it. */
  readonly channels: Map<string, WorkerChannel[]>;
  /** Workers that asked for commands since the start and have not ended: they may reconnect. */
  readonly known: Set<string>;
}

export class Control {
  private readonly ports: ControlPorts;
  private readonly book = new CommandBook();
  private readonly runs = new Map<string, Run>();
  /** Handed to a channel, and the `delivered` step is not folded yet; '<cmdId>\0<worker>'. */
  private readonly sent = new Set<string>();
  private postponed: (() => void)[] | null = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(ports: ControlPorts) {
    this.ports = ports;
  }

  async post(order: CommandOrder): Promise<Command | OrderRefusal> {
    const before = checkOrder(order) ?? this.known(order) ?? this.checkRoom(order);
    if (before !== undefined) return before;
    const { workspace, runId, author } = order;
    const cmdId = this.ports.createId(nameOf(order));
    const atNs = this.ports.nowNs();
    const step: CommandStep = {
      workspace,
      runId,
      cmdId,
      worker: order.worker ?? everyWorker,
      type: order.type as CommandType,
      payload: payloadOf(order),
      state: "queued",
      reason: order.reason ?? "",
      author,
      atNs,
      expiresNs: atNs + BigInt(Math.round((order.expiresMs ?? expiresMsDefault) * 1e6)),
    };
    const known = order.worker === undefined ? this.knownWorkers(workspace, runId) : [];
    await this.ports.record([step, ...[...known].map((worker) => ({ ...step, worker }))]);
    return this.book.find(cmdId) as Command;
  }

  /** The command that an identical earlier order became; undefined if the order is new. */
  known(order: CommandOrder): Command | OrderRefusal | undefined {
    const name = nameOf(order);
    const isIt = ({ cmdId }: Command) => name !== undefined && cmdId.startsWith(name);
    const found = this.book.ofRun(order.workspace, order.runId).find(isIt);
    if (found === undefined || (found.type === order.type && found.payload === payloadOf(order))) return found;
    return { refused: "key_used", message: "This idempotency key was used for another command of this run." };
  }

  /** Cancels what was not delivered yet. */
  async cancel(workspace: Workspace, runId: RunId, cmdId: string, author: string): Promise<Command | OrderRefusal> {
    const command = this.book.find(cmdId);
    if (command === undefined || command.workspace !== workspace || command.runId !== runId)
      return { refused: "unknown_command", message: "There is no such command." };
    const isQueued = (target: Target) => target.state === "queued";
    // A command to all workers stays open for workers to come, but counts as delivered once every present worker has it.
    const everyoneHasIt = command.targets.size > 0 && ![...command.targets.values()].some(isQueued);
    const steps = everyoneHasIt ? [] : this.stepsFor(command, isQueued, "cancelled", `cancelled by ${author}`);
    if (steps.length === 0)
      return { refused: "not_open", message: "The command has already been delivered or settled." };
    await this.ports.record(steps);
    return command;
  }

  /** Oldest first. */
  list(workspace: Workspace, runId: RunId): Command[] {
    return this.book.ofRun(workspace, runId);
  }

  accepting(workspace: Workspace, runId: RunId): string[] {
    const here = this.runs.get(toRunKey(workspace, runId))?.channels.keys() ?? [];
    return [...new Set([...here, ...this.acceptingElsewhere(workspace, runId)])].sort();
  }

  /** Every worker connected here that asked for commands. */
  acceptingAll(): { workspace: Workspace; run: string; worker: WorkerId }[] {
    return [...this.runs].flatMap(([key, { channels }]) => {
      const [workspace = "", run = ""] = key.split("\0");
      return [...channels.keys()].map((worker) => ({ workspace, run, worker }));
    });
  }

  /** Another collector wants to deliver our command: true once for each worker. */
  grant(cmdId: string, worker: WorkerId): boolean {
    const command = this.book.find(cmdId);
    const key = toSentKey(cmdId, worker);
    if (this.postponed !== null || command === undefined || !isFor(command, worker) || this.sent.has(key)) return false;
    this.sent.add(key);
    return true;
  }

  ungrant(cmdId: string, worker: WorkerId): void {
    this.sent.delete(toSentKey(cmdId, worker));
    const command = this.book.find(cmdId);
    if (command !== undefined) this.deliverToAll(command);
  }

  /** The reachable collectors changed: waiting commands are tried again. */
  retry(): void {
    if (this.postponed !== null) return;
    for (const command of this.book.openOnes()) this.deliverToAll(command);
    this.setTimer();
  }

  /** Returns how to detach. */
  attach(workspace: Workspace, runId: RunId, worker: WorkerId, channel: WorkerChannel): () => void {
    const key = toRunKey(workspace, runId);
    const run = this.runs.get(key) ?? { channels: new Map(), known: new Set() };
    this.runs.set(key, run);
    const channels = run.channels.get(worker) ?? [];
    channels.push(channel);
    run.channels.set(worker, channels);
    run.known.add(worker);
    for (const command of this.book.ofRun(workspace, runId)) if (isFor(command, worker)) this.deliver(command, worker);
    return () => {
      const at = channels.indexOf(channel);
      if (at >= 0) channels.splice(at, 1);
      if (channels.length === 0 && run.channels.get(worker) === channels) run.channels.delete(worker);
      if (this.runs.size > runsMax) this.forgetRuns();
    };
  }

  fold(steps: readonly CommandStep[]): void {
    const touched = new Set<Command>();
    for (const step of steps) {
      touched.add(this.book.fold(step));
      if (rankOf(step.state) > 0) this.sent.delete(toSentKey(step.cmdId, step.worker));
    }
    if (this.postponed !== null) return;
    for (const command of touched) this.deliverToAll(command);
    this.setTimer();
  }

  /** A worker's answer. It names the command, but not necessarily the run. */
  hearAck(workspace: Workspace, ack: WorkerAck): void {
    const command = this.book.find(ack.cmdId);
    if (command?.workspace === workspace) this.observe({ workspace, runId: command.runId, kind: "ack", ...ack });
  }

  unanswered(): Command[] {
    return this.book.unanswered();
  }

  observe(news: WorkerNews): void {
    for (const command of this.book.ofRun(news.workspace, news.runId)) {
      const worker = whoAnswers(command, news);
      const state = command.targets.get(worker)?.state;
      // An answer may overtake the journal's word that the command was delivered.
      const wasSent = state === "delivered" || this.sent.has(toSentKey(command.cmdId, worker));
      if (!wasSent && state !== "queued") continue;
      const verdict = judge(command, news, wasSent);
      if (verdict === undefined) continue;
      const { state: settled, reason } = verdict;
      this.whenReady(() => this.recordAside([toStep(command, worker, settled, reason, this.ports.nowNs())]));
    }
    const { workspace, runId, worker } = news;
    if (news.kind === "run_end") this.runs.get(toRunKey(workspace, runId))?.known.delete(worker);
  }

  /** The journal is replayed: from now on commands flow. */
  ready(): void {
    const waiting = this.postponed ?? [];
    this.postponed = null;
    for (const act of waiting) act();
    for (const command of this.book.openOnes()) this.deliverToAll(command);
    this.setTimer();
  }

  close(): void {
    clearTimeout(this.timer);
    this.postponed = [];
  }

  // A run without connections is remembered for its known workers, but the number of such runs is bounded.
  private forgetRuns(): void {
    for (const [key, run] of this.runs) {
      if (run.channels.size > 0 || (run.known.size > 0 && this.runs.size <= runsMax)) continue;
      this.runs.delete(key);
    }
  }

  private whenReady(act: () => void): void {
    if (this.postponed === null) act();
    else this.postponed.push(act);
  }

  private checkRoom({ workspace, runId }: CommandOrder): OrderRefusal | undefined {
    const open = this.book.ofRun(workspace, runId).filter(isOpen).length;
    if (open < openPerRunMax) return undefined;
    return { refused: "too_many_open", message: `The run has ${open} waiting commands; cancel some first.` };
  }

  private deliverToAll(command: Command): void {
    const run = this.runs.get(toRunKey(command.workspace, command.runId));
    for (const worker of run?.channels.keys() ?? []) if (isFor(command, worker)) this.deliver(command, worker);
  }

  private deliver(command: Command, worker: WorkerId): void {
    const key = toSentKey(command.cmdId, worker);
    const channel = this.runs.get(toRunKey(command.workspace, command.runId))?.channels.get(worker)?.at(-1);
    if (this.postponed !== null || channel === undefined || this.sent.has(key)) return;
    this.sent.add(key);
    this.handOver(command, worker, channel).then(
      (isGone) => {
        // A command that could not be sent waits for the worker's next connection.
        if (isGone) this.recordAside([toStep(command, worker, "delivered", "", this.ports.nowNs())]);
        else this.sent.delete(key);
      },
      (cause) => {
        this.sent.delete(key);
        this.ports.onTrouble(cause);
      },
    );
  }

  /**
   * A command of another collector is delivered only with that collector's consent, so that no worker gets it twice.
   */
  private async handOver(command: Command, worker: WorkerId, channel: WorkerChannel): Promise<boolean> {
    const { cmdId, type, payload } = command;
    const { others } = this.ports;
    if (others === undefined || others.isOurs(cmdId)) return channel.send({ cmdId, type, payload });
    if (!(await others.claim(cmdId, worker))) return false;
    const isGone = await channel.send({ cmdId, type, payload });
    if (!isGone) others.unclaim(cmdId, worker);
    return isGone;
  }

  private knownWorkers(workspace: Workspace, runId: RunId): Set<string> {
    const here = this.runs.get(toRunKey(workspace, runId))?.known ?? [];
    return new Set([...here, ...this.acceptingElsewhere(workspace, runId)]);
  }

  private acceptingElsewhere(workspace: Workspace, runId: RunId): readonly string[] {
    return this.ports.others?.accepting(workspace, runId) ?? [];
  }

  private stepsFor(command: Command, want: (target: Target) => boolean, state: CommandState, reason: string) {
    const atNs = this.ports.nowNs();
    const parts = [...command.targets.values(), ...(command.all === null ? [] : [command.all])];
    const wanted = parts.filter((part) => rankOf(part.state) < 2 && want(part));
    return wanted.map(({ worker }) => toStep(command, worker, state, reason, atNs));
  }

  /** Nobody waits for these steps and nothing repeats them, so they are retried while the disk is full. */
  private recordAside(steps: readonly CommandStep[]): void {
    const news = steps.filter((step) => this.book.isNews(step));
    if (news.length === 0 || this.postponed !== null) return;
    this.ports.record(news).catch((cause) => {
      this.ports.onTrouble(cause);
      setTimeout(() => this.recordAside(news), tryAgainMs).unref();
    });
  }

  private setTimer(): void {
    clearTimeout(this.timer);
    let nextNs: bigint | undefined;
    for (const { expiresNs } of this.book.openOnes())
      if (nextNs === undefined || expiresNs < nextNs) nextNs = expiresNs;
    if (nextNs === undefined) return;
    const waitMs = Number((nextNs - this.ports.nowNs()) / 1_000_000n) + 1;
    this.timer = setTimeout(() => this.expire(), Math.max(1, Math.min(waitMs, timerMsMax)));
    this.timer.unref();
  }

  private expire(): void {
    const nowNs = this.ports.nowNs();
    for (const command of this.book.openOnes()) {
      if (command.expiresNs > nowNs || this.ports.others?.isOurs(command.cmdId) === false) continue;
      const isSent = (target: Target) => target.state === "delivered";
      const steps = [
        ...this.stepsFor(command, isSent, "expired", "no answer in time"),
        ...this.stepsFor(command, (target) => !isSent(target), "expired", "no worker took it in time"),
      ];
      if (steps.length > 0) this.ports.record(steps).catch(this.ports.onTrouble);
    }
    // Folding sets the timer again; if the journal is full, this does.
    this.timer = setTimeout(() => this.setTimer(), tryAgainMs);
    this.timer.unref();
  }
}

// A worker may answer without its id; if the command went to one worker, it is that worker's answer.
function whoAnswers(command: Command, news: WorkerNews): string {
  if (news.kind !== "ack" || command.targets.has(news.worker) || command.targets.size !== 1) return news.worker;
  return command.targets.keys().next().value as string;
}

function toSentKey(cmdId: string, worker: WorkerId): string {
  return `${cmdId}\0${worker}`;
}

function toStep(command: Command, worker: WorkerId, state: CommandState, reason: string, atNs: bigint): CommandStep {
  const { workspace, runId, cmdId, type, payload, author, expiresNs } = command;
  return { workspace, runId, cmdId, worker, type, payload, state, reason, author, atNs, expiresNs };
}
