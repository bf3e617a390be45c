// GET /runs/<id>/spans/by-id/<span>: one span with its marks and the way up to the root.

import { type ApiContext, groupKeys, resolveRun } from "#api/context.ts";
import type { SpanDetail } from "#api/contract/span.ts";
import { toExactJson } from "#api/exact-json.ts";
import type { Handler } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";

/** Real traces nest 70 deep; beyond this the way up is cut, and the answer says so. */
const ancestorsMax = 128;

export function spanRoute(context: ApiContext): Handler<"span"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const groups = groupKeys(run);
    const span = await context.reads.span(groups, request.params.span);
    if (span === null) throw unknownSpan(request.params.span);
    const [way, marks] = await Promise.all([
      readAncestors(context, groups, span.parent),
      context.reads.marksOfSpan(groups, span.id),
    ]);
    const { parent: _, ...rest } = span;
    return toExactJson<SpanDetail>({ ...rest, session: run.runId, ...way, marks, as_of: asOf });
  };
}

/** From the root down. A parent that never arrived ends the way, and is told as such. */
async function readAncestors(
  context: ApiContext,
  groups: readonly string[],
  parent: string | null,
): Promise<Pick<SpanDetail, "ancestors" | "ancestors_cut">> {
  const way: SpanDetail["ancestors"] = [];
  const seen = new Set<string>();
  let next = parent;
  while (next !== null && !seen.has(next) && way.length < ancestorsMax) {
    seen.add(next);
    const [found] = await context.reads.spanRefs(groups, [next]);
    way.unshift({ id: next, name: found?.name ?? "", index: found?.index ?? null, arrived: found !== undefined });
    next = found?.parent ?? null;
  }
  return { ancestors: way, ancestors_cut: next !== null && !seen.has(next) };
}

function unknownSpan(id: string): Refusal {
  return new Refusal("span_not_found", `This run has no span ${JSON.stringify(id)}.`, {
    hint: "It may be an ancestor that never arrived: then only its children are known.",
    at: { part: "path", name: "span" },
  });
}
