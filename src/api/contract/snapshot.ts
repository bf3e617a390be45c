// Tensor snapshots: which tensors there are, their histograms over epochs, and values out of blobs.

import type { Static } from "typebox";
import { AsOf, Count, Float, Int64, nullable, TimeNs, WindowQuery, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const TensorHint = word(["nan", "dead", "exploding", "vanishing", "constant"]);
export type TensorHint = Static<typeof TensorHint>;

export const TensorInfo = Type.Object({
  tensor: Type.String(),
  kind: word(["weight", "gradient", "other"]),
  /** The gradient of a weight, the weight of a gradient; null when it was not sent. */
  pair: nullable(Type.String()),
  shape: Type.Array(Count),
  dtype: Type.String(),
  snapshots: Count,
  blobs: Count,
  first_ns: TimeNs,
  last_ns: TimeNs,
  /** At most 48 values in order of time. */
  norms: Type.Array(nullable(Float)),
  /** |last − first| / |first| of the norm; null when there is no such number. */
  change: nullable(Type.Number()),
  hints: Type.Array(TensorHint),
});
export type TensorInfo = Static<typeof TensorInfo>;

export const SnapshotsAnswer = Type.Object({ tensors: Type.Array(TensorInfo), as_of: AsOf });
export type SnapshotsAnswer = Static<typeof SnapshotsAnswer>;

export const TensorPath = Type.Object({ id: Type.String({ minLength: 1 }), tensor: Type.String({ minLength: 1 }) });
export const TensorQuery = Type.Object({
  ...WindowQuery,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2000, description: "Thinned evenly to this many; default 200." }),
  ),
});

export const Snapshot = Type.Object({
  id: Type.String(),
  span_id: Type.String(),
  epoch: nullable(Int64),
  step: nullable(Int64),
  rank: nullable(Type.Integer()),
  ts_ns: TimeNs,
  mode: Type.String(),
  mean: nullable(Float),
  std: nullable(Float),
  min: nullable(Float),
  max: nullable(Float),
  norm: nullable(Float),
  /** n + 1 edges for n counts, of the finite values when some are not; both empty when none were sent. */
  bins: Type.Array(Float),
  counts: Type.Array(Float),
  /** How many values are NaN or infinite; null when the client did not count them. */
  nonfinite_count: nullable(Count),
  /** Statistics of the others, from clients that counted. */
  finite: nullable(
    Type.Object({
      count: Count,
      mean: nullable(Float),
      std: nullable(Float),
      min: nullable(Float),
      max: nullable(Float),
      norm: nullable(Float),
    }),
  ),
  /** What the client named, text only. */
  blob_uri: nullable(Type.String()),
  /** The bytes are here and `values` can be asked for. */
  blob_stored: Type.Boolean(),
});
export type Snapshot = Static<typeof Snapshot>;

export const TensorAnswer = Type.Object({
  ...TensorInfo.properties,
  total: Count,
  rows: Type.Array(Snapshot),
  as_of: AsOf,
});
export type TensorAnswer = Static<typeof TensorAnswer>;

export const TensorValuesQuery = Type.Object({
  snapshot: Type.String(),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 100000, description: "Values to return; default 1,000." })),
  bins: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024, description: "Also a histogram of all values." })),
});

export const TensorValuesAnswer = Type.Object({
  snapshot: Type.String(),
  shape: Type.Array(Count),
  dtype: Type.String(),
  total: Count,
  offset: Count,
  /** Row-major; integers of 64 bits as decimal strings, like everywhere. */
  values: Type.Array(Type.Union([Float, Int64])),
  histogram: nullable(
    Type.Object({
      bins: Type.Array(Type.Number()),
      counts: Type.Array(Count),
      nan: Count,
      infinite: Count,
    }),
  ),
});
export type TensorValuesAnswer = Static<typeof TensorValuesAnswer>;
