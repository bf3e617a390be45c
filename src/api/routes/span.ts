// GET /runs/<id>/spans/by-id/<span>: one span with its marks and the way up to the root.

import { ofRun, type Route } from "#api/context.ts";
import type { SpanDetail } from "#api/contract/span.ts";
import { toExactJson } from "#api/exact-json.ts";
import { Refusal } from "#api/refusal.ts";
import { readSpanDetail } from "#query/timeline/span-detail.ts";

export const spanRoute: Route<"span"> = ofRun(async (context, { asOf, run, params, groups }) => {
  const span = await readSpanDetail(context.sources, groups, params.span);
  if (span !== null) return toExactJson<SpanDetail>({ ...span, session: run.runId, as_of: asOf });
  throw new Refusal("span_not_found", `This run has no span ${JSON.stringify(params.span)}.`, {
    hint: "It may be an ancestor that never arrived: then only its children are known.",
    at: { part: "path", name: "span" },
  });
});
