// GET /runs/<id>/graph, GET /runs/<id>/completeness and GET /completeness: Semantiva pipelines.

import { type ApiContext, ofRun } from "#api/context.ts";
import type { RunCompleteness } from "#api/contract/pipeline.ts";
import type { Handler } from "#api/handler.ts";
import { findRun } from "#query/runs/find-run.ts";
import { judgeUnknownRun } from "#query/semantiva/completeness.ts";
import { readAllCompleteness, readRunCompleteness, readRunGraph } from "#query/semantiva/read-pipelines.ts";

export function graphRoute(context: ApiContext): Handler<"graph"> {
  return ofRun(context, async ({ asOf, run }) => {
    return { ...(await readRunGraph(context.sources, run)), as_of: asOf };
  });
}

/** An id that is not known is a verdict too: the format's own aggregator answers so. */
export function completenessRoute(context: ApiContext): Handler<"completeness"> {
  return async ({ params, caller }): Promise<RunCompleteness> => {
    const asOf = context.asOf();
    const run = await findRun(context.sources, caller.workspace, params.id);
    if (run === null) return { ...judgeUnknownRun(params.id), as_of: asOf };
    return { ...(await readRunCompleteness(context.sources, caller.workspace, run)), as_of: asOf };
  };
}

export function completenessAllRoute(context: ApiContext): Handler<"completenessAll"> {
  return async ({ caller, signal }) => {
    const asOf = context.asOf();
    return { ...(await readAllCompleteness(context.sources, caller.workspace, signal)), as_of: asOf };
  };
}
