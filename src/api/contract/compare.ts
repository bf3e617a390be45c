// N runs side by side. Element i of every `values` list belongs to run i; null where a run has none.
// A comparison has parts, and a part that was not asked for is an empty list: whoever shows one at a time asks for one.

import type { Static } from "typebox";
import { RunSummary } from "./run.ts";
import { AsOf, Count, Float, Int64, JsonText, nullable, repeated, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const ComparePart = word(["params", "metrics", "divergence", "spans", "tensors"]);
export type ComparePart = Static<typeof ComparePart>;

export const CompareQuery = Type.Object({
  run: repeated(Type.String({ minLength: 1 }), 100),
  /** Metric keys to look for the point of divergence in; the most common loss-like ones when absent. */
  key: Type.Optional(repeated(Type.String(), 16)),
  part: Type.Optional(repeated(ComparePart, 5)),
});

const textRows = Type.Array(
  Type.Object({ name: Type.String(), values: Type.Array(nullable(JsonText)), differs: Type.Boolean() }),
);

export const CompareAnswer = Type.Object({
  runs: Type.Array(RunSummary),
  /** Ids that no run has, or none any more: these are left out. */
  missing: Type.Array(Type.String()),
  params: textRows,
  env: textRows,
  source: textRows,
  metrics: Type.Array(
    Type.Object({
      key: Type.String(),
      phase: Type.String(),
      last: Type.Array(nullable(Float)),
      min: Type.Array(nullable(Type.Number())),
      max: Type.Array(nullable(Type.Number())),
      nonfinite: Type.Array(Count),
    }),
  ),
  /** The first step at which a run leaves the first run's series beyond its noise. */
  divergence: Type.Array(
    Type.Object({
      key: Type.String(),
      phase: Type.String(),
      run: Type.String(),
      step: nullable(Int64),
      ts_ns: nullable(TimeNs),
      reference: nullable(Float),
      value: nullable(Float),
    }),
  ),
  spans: Type.Array(
    Type.Object({
      name: Type.String(),
      count: Type.Array(nullable(Count)),
      wall_ns: Type.Array(nullable(Int64)),
      gpu_ns: Type.Array(nullable(Int64)),
      p50_ns: Type.Array(nullable(Int64)),
    }),
  ),
  /** Tensors at least two runs have. */
  tensors: Type.Array(Type.Object({ name: Type.String(), has: Type.Array(Type.Boolean()) })),
  as_of: AsOf,
});
export type CompareAnswer = Static<typeof CompareAnswer>;
