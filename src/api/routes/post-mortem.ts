// GET /runs/<id>/post-mortem: why a run died, and what it left.

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
  const { death, exit, endNs, lastStep, workers, open, metrics, refused } = found;
  const { cause, text, evidence, traceback, lines, collective } = death;
  return toExactJson<PostMortem>({
    cause,
    text,
    evidence: [...evidence],
    exit,
    end_ns: endNs?.toString() ?? null,
    last_step: lastStep?.toString() ?? null,
    traceback,
    lines: lines.map(({ tsNs, ...line }) => ({ ts_ns: tsNs.toString(), ...line })),
    workers: workers.map(({ worker, lastNs, lastStep: step, behindNs, doing }) => ({
      worker,
      last_ns: lastNs.toString(),
      last_step: step?.toString() ?? null,
      behind_ns: behindNs.toString(),
      doing,
    })),
    open: open.map(({ startNs, ...scope }) => ({ ...scope, start_ns: startNs?.toString() ?? null })),
    collective:
      collective === null ? null : { ...collective, ranks: [...collective.ranks], evidence: [...collective.evidence] },
    metrics: [...metrics],
    refused: [...refused],
    as_of: asOf,
  });
});

// GET /runs/<id>/verdicts: what is wrong with a run or bounds it, in words.

export const verdictsRoute: Route<"verdicts"> = ofRun(async (context, { asOf, run, caller }) => {
  const findings = await judgeStoredRun(context.sources, caller.workspace, run);
  return { verdicts: findings.map(toVerdict), as_of: asOf };
});

function toVerdict({ at, evidence, ...finding }: Finding): Verdict {
  return { ...finding, evidence: [...evidence], at: at && toRunPlace(at) };
}
