// GET /runs/<id>/spans/flame: the time of a window by path of nesting.

import type { ApiContext } from "#api/context.ts";
import type { SpanFlameAnswer } from "#api/contract/span.ts";
import type { Handler } from "#api/handler.ts";
import { toFlame } from "#query/timeline/flame.ts";
import { timelineOf, windowOf } from "./spans.ts";

export function spanFlameRoute(context: ApiContext): Handler<"spanFlame"> {
  return async (request): Promise<SpanFlameAnswer> => {
    const { lane } = request.query;
    const asOf = context.asOf();
    const { layout } = await timelineOf(context, request);
    const lanes = lane === undefined ? null : new Set(lane);
    const flame = toFlame(layout, { ...windowOf(layout, request.query), lanes });
    return {
      names: [...layout.spans.names.texts],
      nodes: { parent: flame.parent, name: flame.name, count: flame.count, wall_ns: flame.wall, gpu_ns: flame.gpu },
      total: flame.count.reduce((sum, count) => sum + count, 0),
      as_of: asOf,
    };
  };
}
