// Metrics and series. A series is one (run, key, phase), or one per worker when asked `by: "worker"`.
// Buckets are deterministic: the same request over the same data gives the same answer, and the true
// extremes are never sampled away. Positions are offsets from a 64-bit base, so that nanoseconds stay exact.

import type { Static } from "typebox";
import { AsOf, Count, Float, Int64, nullable, TimeNs, word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export const Axis = word(["step", "epoch", "time", "relative"]);
export type Axis = Static<typeof Axis>;

export const MetricInfo = Type.Object({
  key: Type.String(),
  phase: Type.String({ description: "'' when the points have none." }),
  source: Type.String({ description: "`mark`, `system`, or the protocol it came by." }),
  workers: Type.Array(Type.String()),
  count: Count,
  nan: Count,
  pos_inf: Count,
  neg_inf: Count,
  /** Points that are not numbers at all; see the events view for their text. */
  odd: Count,
  first: nullable(Float),
  last: nullable(Float),
  min: nullable(Type.Number()),
  max: nullable(Type.Number()),
  first_step: nullable(Int64),
  last_step: nullable(Int64),
  first_ns: TimeNs,
  last_ns: TimeNs,
});
export type MetricInfo = Static<typeof MetricInfo>;

export const MetricsAnswer = Type.Object({ metrics: Type.Array(MetricInfo), as_of: AsOf });
export type MetricsAnswer = Static<typeof MetricsAnswer>;

export const seriesColumns = [
  "x",
  "x_last",
  "t",
  "t_last",
  "count",
  "first",
  "last",
  "min",
  "max",
  "mean",
  "nan",
  "pos_inf",
  "neg_inf",
] as const;
export type SeriesColumn = (typeof seriesColumns)[number];

const seriesOptions = {
  axis: Type.Optional(Axis),
  buckets: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10000, description: "The largest number of buckets; default 1,000." }),
  ),
  /** Window in the axis' unit (step, epoch, or ns), both ends included. */
  from: Type.Optional(Int64),
  to: Type.Optional(Int64),
  /** Window in time whatever the axis: the shared clock. */
  from_ns: Type.Optional(TimeNs),
  to_ns: Type.Optional(TimeNs),
  /** `position`: the points of all workers at one position are one bucket, with their mean, least and greatest. */
  by: Type.Optional(word(["run", "worker", "position"])),
  worker: Type.Optional(Type.String()),
  phase: Type.Optional(Type.String()),
  columns: Type.Optional(
    Type.Array(word(seriesColumns), { description: "The columns to fill; default all. The others are empty." }),
  ),
};

export const SeriesQuery = Type.Object(seriesOptions);

export const SeriesBody = strict({
  runs: Type.Array(Type.String(), { minItems: 1, maxItems: 500 }),
  keys: Type.Array(Type.String(), { minItems: 1, maxItems: 200 }),
  ...seriesOptions,
});
export type SeriesBody = Static<typeof SeriesBody>;

/** Columns: element i of each is bucket i. A position is `x_base + x[i]`, a time `t_base + t[i]`. */
export const Series = Type.Object({
  run: Type.String(),
  key: Type.String(),
  phase: Type.String(),
  /** Null when the workers are taken together. */
  worker: nullable(Type.String()),
  /** Points in the window. */
  points: Count,
  /** True when every bucket holds one point: the columns are the data itself. */
  exact: Type.Boolean(),
  x_base: Int64,
  x: Type.Array(Type.Number({ description: "Position of the bucket's first point." })),
  x_last: Type.Array(Type.Number()),
  t_base: Int64,
  t: Type.Array(Type.Number({ description: "Time of the bucket's first point, ns after t_base." })),
  t_last: Type.Array(Type.Number()),
  count: Type.Array(Count),
  first: Type.Array(nullable(Float)),
  last: Type.Array(nullable(Float)),
  /** Over finite points; null when the bucket has none. */
  min: Type.Array(nullable(Type.Number())),
  max: Type.Array(nullable(Type.Number())),
  mean: Type.Array(nullable(Type.Number())),
  nan: Type.Array(Count),
  pos_inf: Type.Array(Count),
  neg_inf: Type.Array(Count),
});
export type Series = Static<typeof Series>;

export const SeriesAnswer = Type.Object({
  axis: Axis,
  series: Type.Array(Series),
  as_of: AsOf,
});
export type SeriesAnswer = Static<typeof SeriesAnswer>;

export const MetricPath = Type.Object({ id: Type.String({ minLength: 1 }), key: Type.String({ minLength: 1 }) });
