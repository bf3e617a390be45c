// PATCH and DELETE of runs: what people change, kept apart from what clients sent, and written to the audit.

import { type ApiContext, ofRun, type Route, type RunQuestion } from "#api/context.ts";
import { Refusal } from "#api/refusal.ts";
import { OneByOne } from "#base/one-by-one.ts";
import { toAudit } from "#model/audit.ts";
import { type FoundRun, findGroups } from "#query/runs/find-run.ts";
import { listRuns } from "#query/runs/list.ts";
import { type RunFacts, readFactsOfRuns } from "#query/runs/run-detail.ts";
import { answerRun } from "./run.ts";
import { readFilter } from "./runs.ts";

/** An edit is stored as a whole, so of two that overlap the second would undo the first. */
const edits = new OneByOne();

export const patchRunRoute: Route<"patchRun"> = ofRun(async (context, question) => {
  const { caller, run } = question;
  await edits.run(JSON.stringify([caller.workspace, run.runId]), () => patchRun(context, question));
  return answerRun(context, caller.workspace, run, context.asOf());
});

async function patchRun(
  context: ApiContext,
  { body, caller, run }: Pick<RunQuestion<"patchRun">, "body" | "caller" | "run">,
): Promise<void> {
  const [facts] = await readFactsOfRuns(context.sources, caller.workspace, [run]);
  const before = facts?.edit ?? null;
  const atNs = context.head().nowNs;
  const row = {
    workspace: caller.workspace,
    run_id: run.runId,
    name: body.name === undefined ? (before?.name ?? null) : body.name,
    notes: body.notes ?? before?.notes ?? null,
    tags: toTags(body.tags, before),
    archived: (body.archived ?? before?.archived ?? false) ? 1 : 0,
    author: caller.name,
    version: atNs,
  };
  const audit = toAudit(caller.workspace, caller.name, "run_edited", run.runId, body, atNs);
  await context.change([{ table: "run_edits", row }, audit], caller.workspace, caller.name);
}

function toTags(tags: readonly string[] | null | undefined, before: RunFacts["edit"]): string {
  if (tags === undefined) return before?.tags ?? "";
  return tags === null ? "" : JSON.stringify(tags);
}

export const deleteRunRoute: Route<"deleteRun"> = ofRun(async (context, { run, caller }) => {
  await context.deleteRuns(caller.workspace, [run], caller.name);
  return { done: true, as_of: context.asOf() };
});

export const deleteRunsRoute: Route<"deleteRuns"> = async (context, { body, caller }) => {
  if ((body.ids === undefined) === (body.filter === undefined))
    throw new Refusal("delete_unclear", "Name the runs by `ids` or by `filter`, one of the two.", {
      at: { part: "body" },
    });
  await context.sources.caughtUp();
  const ids = body.ids ?? (await findRuns(context, caller.workspace, body.filter ?? ""));
  const found = (await findGroups(context.sources, caller.workspace, ids)).values();
  // Several ids may mean one run.
  const runsById = new Map(
    found.flatMap((groups) => groups.slice(0, 1).map(({ run }) => [run, { runId: run, groups, also: [] }])),
  );
  const runs: FoundRun[] = [...runsById.values()];
  if (runs.length !== body.expect)
    throw new Refusal("delete_changed", `${runs.length} runs match now, not ${body.expect}; nothing was deleted.`, {
      hint: "Look at the runs again and repeat with the number you saw.",
      at: { part: "body", name: "/expect" },
    });
  if (runs.length > 0) await context.deleteRuns(caller.workspace, runs, caller.name);
  return { deleted: runs.length, as_of: context.asOf() };
};

export async function findRuns(context: ApiContext, workspace: string, filter: string): Promise<string[]> {
  const question = {
    workspace,
    filter: readFilter(filter),
    sort: [],
    columns: [],
    group: null,
    archived: "show" as const,
    limit: Number.MAX_SAFE_INTEGER,
    after: null,
  };
  const page = await listRuns(context.sources, question, context.head());
  return page.rows.map(({ row }) => row.runId);
}
