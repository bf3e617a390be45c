// Joining and parting runs: people say that separate recordings are one run, and can take it back. Only this statement is
// stored; no record is touched.

import { type ApiContext, ofRun, type Route, resolveRun } from "#api/context.ts";
import { Refusal } from "#api/refusal.ts";
import { toAudit } from "#model/audit.ts";
import type { StateChange } from "#model/state-tables.ts";
import { findRun, ownRunsOf } from "#query/runs/find-run.ts";
import { readJoins } from "#query/runs/run-detail.ts";
import { straightenJoins } from "#query/runs/straighten-joins.ts";
import { answerRun } from "./run.ts";

export const joinRunsRoute: Route<"joinRuns"> = async (context, request) => {
  const { body, caller } = request;
  const whole = await resolveRun(context, request);
  const joined = new Set<string>();
  for (const id of body.ids) {
    const part = await resolveRun(context, { ...request, params: { id } });
    if (part.runId === whole.runId)
      throw new Refusal("runs_joined_already", `${JSON.stringify(id)} is part of ${whole.runId} already.`, {
        at: { part: "body", name: "/ids" },
      });
    // What was joined to it comes along.
    for (const run of ownRunsOf(part)) joined.add(run);
  }
  const atNs = context.head().nowNs;
  const changes = [...joined].map((run_id): StateChange => {
    const row = { workspace: caller.workspace, run_id, into_run: whole.runId, parted: 0 };
    return { table: "joins", row: { ...row, author: caller.name, version: atNs } };
  });
  const audit = toAudit(caller.workspace, caller.name, "runs_joined", whole.runId, { runs: [...joined] }, atNs);
  await context.change([...changes, audit], caller.workspace, caller.name);
  await straighten(context, caller.workspace, caller.name);
  const found = await findRun(context.sources, caller.workspace, whole.runId);
  return answerRun(context, caller.workspace, found ?? whole, context.asOf());
};

/** More rounds are needed only while others go on joining these runs. */
const roundsMax = 10;

/** Others may have joined these runs at the same moment. Whoever stored last sees all of it. */
async function straighten(context: ApiContext, workspace: string, author: string): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const crooked = straightenJoins(await readJoins(context.sources.store, { workspace }));
    if (crooked.length === 0) return;
    await context.change(
      crooked.map((row) => ({ table: "joins", row })),
      workspace,
      author,
    );
  }
}

export const partRunsRoute: Route<"partRuns"> = ofRun(async (context, { caller, params, run: whole }) => {
  const rows = await readJoins(context.sources.store, { workspace: caller.workspace, runs: [whole.runId] });
  const parted = params.id === whole.runId ? rows : rows.filter(({ run_id }) => run_id === params.id);
  if (parted.length === 0)
    throw new Refusal("run_not_joined", `${JSON.stringify(params.id)} is not joined to another run.`, {
      hint: rows.length === 0 ? "" : `Joined to ${whole.runId} are: ${rows.map(({ run_id }) => run_id).join(", ")}.`,
      at: { part: "path", name: "id" },
    });
  const atNs = context.head().nowNs;
  const changes = parted.map((row): StateChange => {
    const version = row.version >= atNs ? row.version + 1n : atNs;
    return { table: "joins", row: { ...row, parted: 1, author: caller.name, version } };
  });
  const runs = parted.map(({ run_id }) => run_id);
  const audit = toAudit(caller.workspace, caller.name, "runs_parted", whole.runId, { runs }, atNs);
  await context.change([...changes, audit], caller.workspace, caller.name);
  return { parted: runs, as_of: context.asOf() };
});
