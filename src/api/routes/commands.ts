// Commands to the workers of a run: who accepts them, what was sent, sending and cancelling.

import { type ApiContext, ofRun, type Route } from "#api/context.ts";
import type { Command, SentCommand } from "#api/contract/command.ts";
import type { RunStatus } from "#api/contract/run.ts";
import { Refusal, type RefusalPlace } from "#api/refusal.ts";
import { given } from "#base/given.ts";
import type { JsonObject } from "#base/json/value.ts";
import { type Command as BookCommand, summarize } from "#control/book.ts";
import { everyWorker } from "#control/command.ts";
import type { CommandOrder, OrderRefusal } from "#control/order.ts";
import { type FoundRun, ownRunsOf } from "#query/runs/find-run.ts";
import { steeredRuns } from "#query/runs/steered-runs.ts";
import { readRun } from "./run.ts";

const howToAccept =
  'No worker of this run takes commands. A worker asks for them with "accepts": ["command"] in its run_start ' +
  "(the SDK's startRun does), or is started with `tributary run -- …`, which passes them to its standard input.";

export const commandsRoute: Route<"commands"> = ofRun(async (context, { asOf, run, caller }) => {
  const runs = ownRunsOf(run);
  const { workspace } = caller;
  const accepting = runs.flatMap((run) => context.control.accepting(workspace, run));
  return {
    accepting,
    how: accepting.length === 0 ? howToAccept : "",
    commands: runs
      .flatMap((run) => context.control.list(workspace, run))
      .sort((a, b) => Number(a.createdNs - b.createdNs))
      .map(toCommand),
    as_of: asOf,
  };
});

export const sendCommandRoute: Route<"sendCommand"> = ofRun(async (context, { body, caller, run: found }) => {
  const { control } = context;
  const { payload, idempotency_key: idempotencyKey, ...said } = body;
  const toOrder = (runId: string): CommandOrder => ({
    ...{ workspace: caller.workspace, runId, author: caller.name },
    ...{ ...said, ...given({ payload: payload as JsonObject | undefined, idempotencyKey }) },
  });
  const known = ownRunsOf(found).flatMap((runId) => control.known(toOrder(runId)) ?? []);
  if (known.length > 0) return toAnswer(known);
  await refuseEnded(context, caller.workspace, found);
  const posted: (BookCommand | OrderRefusal)[] = [];
  const acceptingIn = (run: string) => control.accepting(caller.workspace, run);
  for (const runId of steeredRuns(found, acceptingIn, body.worker)) posted.push(await control.post(toOrder(runId)));
  return toAnswer(posted);
});

/** Joined runs have one each. */
function toAnswer(posted: readonly (BookCommand | OrderRefusal)[]): SentCommand {
  const [first, ...also] = posted.map((command) => {
    if ("refused" in command) throw toRefusal(command);
    return toCommand(command);
  });
  return { ...(first as Command), also };
}

export const cancelCommandRoute: Route<"cancelCommand"> = ofRun(async (context, { params, caller, run }) => {
  const runs = ownRunsOf(run);
  const isMine = (run: string) =>
    context.control.list(caller.workspace, run).some((one) => one.cmdId === params.command);
  const runId = runs.find(isMine) ?? (runs[0] as string);
  const cancelled = await context.control.cancel(caller.workspace, runId, params.command, caller.name);
  if ("refused" in cancelled) throw toRefusal(cancelled, { part: "path", name: "command" });
  return toCommand(cancelled);
});

const ended: ReadonlySet<RunStatus> = new Set(["completed", "failed", "killed"]);

/** A command that waited for nobody would reach the next run that begins under this id. */
async function refuseEnded(context: ApiContext, workspace: string, found: FoundRun): Promise<void> {
  if (ownRunsOf(found).some((run) => context.control.accepting(workspace, run).length > 0)) return;
  const { status } = await readRun(context, workspace, found, context.asOf());
  if (!ended.has(status)) return;
  throw new Refusal("command_run_ended", `The run has ended (${status}), so nobody is there to take a command.`, {
    hint: "Send it again when the run goes on.",
    at: { part: "path", name: "id" },
  });
}

function toRefusal({ refused, message }: OrderRefusal, at: RefusalPlace = { part: "body" }): Refusal {
  return new Refusal(`command_${refused}`, message, { at });
}

export function toCommand(command: BookCommand): Command {
  const { state, deliveredNs, settledNs, note } = summarize(command);
  const [only] = command.targets.keys();
  const isForOne = command.all === null && command.targets.size === 1 && only !== everyWorker;
  return {
    id: command.cmdId,
    run: command.runId,
    type: command.type,
    payload: command.payload,
    worker: isForOne ? (only ?? null) : null,
    state,
    by: command.author,
    reason: command.reason,
    created_ns: command.createdNs.toString(),
    delivered_ns: deliveredNs?.toString() ?? null,
    settled_ns: settledNs?.toString() ?? null,
    note,
  };
}
