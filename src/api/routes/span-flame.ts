// GET /runs/<id>/spans/flame: the time of a window by path of nesting.

import type { Route } from "#api/context.ts";
import { readFlame } from "#query/timeline/read-timeline.ts";
import { orRefuse, toQuestion } from "./spans.ts";

export const spanFlameRoute: Route<"spanFlame"> = async (context, request) => {
  const { lane } = request.query;
  const question = toQuestion(request);
  const lanes = lane === undefined ? null : new Set(lane);
  const found = await readFlame(context.sources, question, lanes, request.signal);
  const { names, flame } = orRefuse(found, question.id);
  return {
    names: [...names],
    nodes: { parent: flame.parent, name: flame.name, count: flame.count, wall_ns: flame.wall, gpu_ns: flame.gpu },
    total: flame.count.reduce((sum, count) => sum + count, 0),
    as_of: request.asOf,
  };
};
