// GET /runs/<id>/graph, GET /runs/<id>/completeness and GET /completeness: Semantiva pipelines.

import { ofRun, type Route } from "#api/context.ts";
import type { RunCompleteness } from "#api/contract/pipeline.ts";
import { findRun } from "#query/runs/find-run.ts";
import { judgeUnknownRun } from "#query/semantiva/completeness.ts";
import { readAllCompleteness, readRunCompleteness, readRunGraph } from "#query/semantiva/read-pipelines.ts";
import { endedBy } from "#query/sources.ts";

export const graphRoute: Route<"graph"> = ofRun(async (context, { asOf, run }) => {
  return { ...(await readRunGraph(context.sources, run)), as_of: asOf };
});

/** An id that is not known is a verdict too: the format's own aggregator answers so. */
export const completenessRoute: Route<"completeness"> = async (
  context,
  { params, caller, asOf },
): Promise<RunCompleteness> => {
  const run = await findRun(context.sources, caller.workspace, params.id);
  if (run === null) return { ...judgeUnknownRun(params.id), as_of: asOf };
  return { ...(await readRunCompleteness(context.sources, caller.workspace, run)), as_of: asOf };
};

export const completenessAllRoute: Route<"completenessAll"> = async (context, { caller, signal, asOf }) => {
  return { ...(await readAllCompleteness(endedBy(context.sources, signal), caller.workspace)), as_of: asOf };
};
