// GET /runs/<id>/post-mortem and …/verdicts: why a run died, and what is wrong with a run or limits its speed.

import { ofRun, type Route } from "#api/context.ts";
import { toRunPlace, type Verdict } from "#api/contract/judge.ts";
import type { PostMortem } from "#api/contract/post-mortem.ts";
import { toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import type { Finding } from "#judge/finding.ts";
import { readPostMortem } from "#query/judge/read-death.ts";
import { judgeStoredRun } from "#query/judge/read-evidence.ts";

export const postMortemRoute: Route<"postMortem"> = ofRun(async (context, { asOf, run, caller }) => {
  const found = await readPostMortem(context.sources, caller.workspace, run, context.head());
  if (found === null) throw new Refusal("run_not_found", `The run ${run.runId} was deleted.`);
  return toExactJson<PostMortem>({ ...found, as_of: asOf });
});

export const verdictsRoute: Route<"verdicts"> = ofRun(async (context, { asOf, run, caller }) => {
  const findings = await judgeStoredRun(context.sources, caller.workspace, run);
  return { verdicts: findings.map(toVerdict), as_of: asOf };
});

function toVerdict({ at, evidence, ...finding }: Finding): Verdict {
  return { ...finding, evidence: [...evidence], at: at && toRunPlace(at) };
}
