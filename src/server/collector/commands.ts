// The commands of a collector: `Control`, backed by the journal and the `commands` table.
//
// The rest of the journal is applied while the collector opens, before there is a `Control`. So news of workers is
// collected from the first record on, and handed over once the commands are loaded.

import { randomUUID } from "node:crypto";
import { nowNs } from "#base/clock.ts";
import { type CommandStep, fromCommandRow, toStateChange } from "#control/command.ts";
import type { WorkerNews } from "#control/confirm.ts";
import { Control, type ControlPorts } from "#control/control.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import { toAuditOfText } from "#model/audit.ts";
import { groupKinds, groupPrefix } from "#model/group-key.ts";
import type { GroupName } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import { toAnswer, toWorkerNews } from "#server/xtrack/news.ts";
import { readStateRows } from "#store/reader/state-rows.ts";
import { readAnswers } from "#store/reader/xtrack-state.ts";
import type { Store } from "#store/store.ts";
import type { Collector } from "./collector.ts";

export interface CommandRoom {
  /** To be given to the collector when it is opened. */
  readonly listener: (applied: AppliedInput) => void;
  /** Loads the known commands and lets them flow. */
  open(collector: Collector, several?: SeveralCollectors): Promise<Control>;
}

type SeveralCollectors = Required<Pick<ControlPorts, "createId" | "others">>;

/** A recovery with more news than this is about workers that have long gone on without their commands. */
const earlyNewsMax = 100_000;

export function createCommandRoom(): CommandRoom {
  // The run of a group is not known until the collector is open, so news is kept under its group.
  const early: WorkerNews[] = [];
  let hear: ((applied: AppliedInput) => void) | undefined;
  return {
    listener(entry) {
      if (hear !== undefined) hear(entry);
      else if (early.length < earlyNewsMax)
        for (const news of toWorkerNews(entry.applied.parts, entry.input.workspace, (key: string) => key))
          early.push(news);
    },
    async open(collector, several) {
      const runOf = (groupKey: GroupName) => collector.applier.state.runOf(groupKey);
      const control = new Control({
        nowNs,
        createId: (name) => name ?? randomUUID(),
        ...several,
        record: (steps) => record(collector, steps),
        onTrouble: (cause) => collector.tell("A command's step could not be recorded.", cause),
      });
      hear = ({ input, applied }) => {
        for (const news of toWorkerNews(applied.parts, input.workspace, runOf)) tell(control, news);
        control.fold(toSteps(applied.state));
      };
      await collector.onceJoined(async () => {
        await collector.sequencer.drained();
        const unstored = collector.unstored.of("commands").flatMap(({ row }) => fromCommandRow(row) ?? []);
        control.fold([...(await readCommandSteps(collector.store)), ...unstored]);
        for (const news of early.splice(0)) tell(control, { ...news, runId: runOf(news.runId) ?? "" });
        control.ready();
        await hearStoredAnswers(collector.store, control);
      });
      return control;
    },
  };
}

/** An answer names its command. Its run may no longer be known here. */
function tell(control: Control, news: WorkerNews): void {
  if (news.kind === "ack") control.hearAck(news.workspace, news);
  else if (news.runId !== "") control.observe(news);
}

/** If a process was killed after storing a worker's answer and before recording its effect, the next one records it. */
async function hearStoredAnswers(store: Store, control: Control): Promise<void> {
  const asked = Map.groupBy(control.unanswered(), ({ workspace }) => workspace);
  for (const [workspace, commands] of asked) {
    const rows = await readAnswers(
      store,
      groupPrefix(workspace, groupKinds.xtrackRun),
      commands.map(({ cmdId }) => cmdId),
    );
    for (const { cmd_id: cmdId, worker, status, error } of rows)
      control.hearAck(workspace, { cmdId, worker, ...toAnswer(status, error) });
  }
}

/** The steps of all commands, or of those that expire after a time. */
export async function readCommandSteps(store: Store, sinceNs?: bigint): Promise<CommandStep[]> {
  const rows =
    sinceNs === undefined
      ? await readStateRows(store, "commands")
      : await readStateRows(store, "commands", "WHERE expires_ns > {since:Int64}", { since: sinceNs });
  return rows.flatMap((row) => fromCommandRow(row) ?? []);
}

async function record(collector: Collector, steps: readonly CommandStep[]): Promise<void> {
  const [first] = steps;
  if (first === undefined) return;
  const atNs = nowNs();
  const changes: StateChange[] = steps.map((step) => toStateChange(step, atNs));
  if (first.state === "queued" || first.state === "cancelled") changes.push(toAuditLine(first, atNs));
  await collector.change(changes, first.workspace, first.author);
}

/** The audit holds what people did; what workers answer is part of the run's own history. */
function toAuditLine(step: CommandStep, atNs: bigint): StateChange {
  const { workspace, author, cmdId, runId, type, payload, state } = step;
  const action = state === "queued" ? "command_sent" : "command_cancelled";
  const reason = state === "queued" && step.reason !== "" ? { reason: step.reason } : {};
  // The payload is strict JSON, and its integers may be longer than a double holds.
  const members = JSON.stringify({ run: runId, type, ...reason });
  const detail = `${members.slice(0, -1)},"payload":${payload}}`;
  return toAuditOfText(workspace, author, action, cmdId, detail, atNs);
}

export function toSteps(changes: readonly StateChange[]): CommandStep[] {
  return changes.flatMap((change) => (change.table === "commands" ? (fromCommandRow(change.row) ?? []) : []));
}
