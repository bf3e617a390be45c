// POST /runs/<id>/history: the faults and commands that an export has of a run besides its records. Nothing is done again: a
// fault is kept as it was, and a command that was still open at the export has expired here.

import { ofRun, type Route } from "#api/context.ts";
import type { HistoryStep } from "#api/contract/history.ts";
import { Refusal } from "#api/refusal.ts";
import { type CommandStep, fromCommandRow, rankOf, toStateChange } from "#control/command.ts";
import { inWorkspace } from "#model/group-key.ts";

export const runHistoryRoute: Route<"runHistory"> = ofRun(async (context, { body, caller, run, groups }) => {
  const { workspace } = caller;
  const { nowNs } = context.head();
  // A command that is known here goes on as it does.
  const known = new Set(context.control.list(workspace, run.runId).map(({ cmdId }) => cmdId));
  const steps = (body.commands ?? [])
    .filter(({ id }) => !known.has(id))
    .flatMap((step) => toStep(step, workspace, run.runId) ?? []);
  const changes = [...steps, ...endOf(steps, nowNs)].map((step) => toStateChange(step, nowNs));
  if (changes.length > 0) await context.change(changes, workspace, caller.name);
  const own = new Set(groups);
  const faults = (body.faults ?? []).filter(({ group }) => own.has(inWorkspace(workspace, group)));
  await context.keepFaults(faults, workspace);
  return { accepted: steps.length + faults.length };
});

function toStep(step: HistoryStep, workspace: string, runId: string): CommandStep | null {
  const { id, by, at_ns, expires_ns, ...words } = step;
  const times = { at_ns: toInt64(at_ns), expires_ns: toInt64(expires_ns), version: 0n };
  return fromCommandRow({ workspace, run_id: runId, cmd_id: id, author: by, ...words, ...times });
}

function toInt64(text: string): bigint {
  const value = BigInt(text);
  if (BigInt.asIntN(64, value) === value) return value;
  throw new Refusal("request_invalid", `${text} is no 64-bit integer.`, { at: { part: "body", name: "/commands" } });
}

/** The last step of commands that nobody here will answer. */
function endOf(steps: readonly CommandStep[], atNs: bigint): CommandStep[] {
  const targets = Map.groupBy(steps, ({ cmdId, worker }) => `${cmdId}\0${worker}`);
  return [...targets.values()].flatMap((known) => {
    const [first] = known;
    if (first === undefined || known.some(({ state }) => rankOf(state) === 2)) return [];
    return [{ ...first, state: "expired" as const, reason: "It was open when it was exported.", atNs }];
  });
}
