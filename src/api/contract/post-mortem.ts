// Why a run died, and what it left.

import type { Static } from "typebox";
import { deathCauses } from "#judge/death.ts";
import { AsOf, Count, Int64, nullable, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";
import { MetricInfo } from "./series.ts";

export const PostMortem = Type.Object({
  cause: word(deathCauses),
  text: Type.String(),
  evidence: Type.Array(Type.String()),
  /** Of the program, where `tributary run` ran it. */
  exit: nullable(Type.Object({ code: nullable(Type.Integer()), signal: Type.String() })),
  end_ns: nullable(TimeNs),
  last_step: nullable(Int64),
  traceback: Type.String(),
  /** Lines that report trouble, else the last ones. */
  lines: Type.Array(
    Type.Object({
      ts_ns: TimeNs,
      worker: Type.String(),
      level: Type.String(),
      stream: Type.String(),
      text: Type.String(),
    }),
  ),
  /** The one that fell silent first comes first. */
  workers: Type.Array(
    Type.Object({
      worker: Type.String(),
      last_ns: TimeNs,
      last_step: nullable(Int64),
      behind_ns: Int64,
      doing: Type.String({ description: "The last status it reported; may be empty." }),
    }),
  ),
  /** Scopes that were opened and not closed. */
  open: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String({ description: "'' if only its children arrived." }),
      rank: nullable(Type.Integer()),
      start_ns: nullable(TimeNs),
      holds: Type.String(),
    }),
  ),
  /** Of a distributed job: where its ranks part. */
  collective: nullable(
    Type.Object({
      text: Type.String(),
      group: Type.String(),
      seq: Count,
      op: Type.String(),
      ranks: Type.Array(Type.Integer()),
      evidence: Type.Array(Type.String()),
    }),
  ),
  /** The last values, those that are not finite first. */
  metrics: Type.Array(MetricInfo),
  refused: Type.Array(Type.String({ description: "A flight record that was not read, and why." })),
  as_of: AsOf,
});
export type PostMortem = Static<typeof PostMortem>;
