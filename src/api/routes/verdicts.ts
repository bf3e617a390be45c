// GET /runs/<id>/verdicts: what is wrong with a run or bounds it, in words.

import { ofRun, type Route } from "#api/context.ts";
import { toRunPlace, type Verdict } from "#api/contract/judge.ts";
import type { Finding } from "#judge/finding.ts";
import { judgeStoredRun } from "#query/judge/read-evidence.ts";

export const verdictsRoute: Route<"verdicts"> = ofRun(async (context, { asOf, run, caller }) => {
  const findings = await judgeStoredRun(context.sources, caller.workspace, run);
  return { verdicts: findings.map(toVerdict), as_of: asOf };
});

function toVerdict({ at, evidence, ...finding }: Finding): Verdict {
  return { ...finding, evidence: [...evidence], at: at && toRunPlace(at) };
}
