// Metrics over steps or time, in few buckets.

import { pageOf, rowsMax } from "#agent/bound.ts";
import { readWindow, round, toTime } from "#agent/measures.ts";
import { defineTool, pageInput, windowInput } from "#agent/tool.ts";
import { Type } from "#api/contract/schema.ts";
import { Axis, type Series } from "#api/contract/series.ts";
import { given } from "#base/given.ts";

const bucketsMax = 200;
const bucketsUsual = 50;

export const getSeries = defineTool(
  {
    name: "get_series",
    title: "Get series",
    scope: "read",
    description:
      "Metrics of runs as series in at most 200 buckets that keep the true extremes: x with last, min and max, or with " +
      "value when each bucket is one point. Along time, x is in seconds after x_start. Narrow the window to see more.",
  },
  {
    runs: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 10 }),
    metrics: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 10,
      description: "Keys, as in describe_run.",
    }),
    axis: Type.Optional(Axis),
    buckets: Type.Optional(
      Type.Integer({ minimum: 1, maximum: bucketsMax, description: `${bucketsUsual} when absent.` }),
    ),
    phase: Type.Optional(Type.String()),
    from_step: Type.Optional(Type.Integer({ description: "For the axis step or epoch; both ends included." })),
    to_step: Type.Optional(Type.Integer()),
    ...windowInput,
    cursor: pageInput.cursor,
  },
  async (
    api,
    { runs, metrics, axis = "step", buckets = bucketsUsual, phase, from_step, to_step, cursor, ...window },
  ) => {
    const share = Math.max(10, Math.floor(bucketsMax / (runs.length * metrics.length)));
    const steps = { from: from_step?.toString(), to: to_step?.toString() };
    const answer = await api.call("series", {
      body: {
        runs,
        keys: metrics,
        axis,
        buckets: Math.min(buckets, share),
        ...given({ phase, ...steps, ...readWindow(window) }),
      },
    });
    const { rows, next } = pageOf(
      answer.series.map((series) => toRow(series, axis)),
      cursor,
      rowsMax,
    );
    const more = next === null ? "" : "; ask again with cursor = next for more";
    const none = rows.length === 0 ? " No run has such points: describe_run lists the metrics there are." : "";
    return { text: `${answer.series.length} series${more}.${none}`, data: { axis, series: rows, next } };
  },
);

function toRow(series: Series, axis: Axis): Record<string, unknown> {
  const { run, key, phase, points, exact } = series;
  const isTime = axis === "time" || axis === "relative";
  const toX = (at: number) => (isTime ? round(at / 1e9) : Number(series.x_base) + at);
  const x = series.x.map(toX);
  const bad = series.x.map((_, at) => (series.nan[at] ?? 0) + (series.pos_inf[at] ?? 0) + (series.neg_inf[at] ?? 0));
  const firstBad = bad.findIndex((number) => number > 0);
  return {
    ...given({ run, key, phase: phase || undefined, points }),
    ...given({ x_start: axis === "time" ? toTime(series.x_base) : undefined }),
    ...(firstBad < 0
      ? {}
      : {
          nonfinite: bad.reduce((sum, one) => sum + one, 0),
          first_nonfinite_between: [x[firstBad], toX(series.x_last[firstBad] ?? 0)],
        }),
    x,
    ...(exact
      ? { value: series.last.map(round) }
      : { last: series.last.map(round), min: series.min.map(round), max: series.max.map(round) }),
  };
}
